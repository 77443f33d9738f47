"""Hands and eyes of the tour: keys, mouse, pictures, waiting."""

import os
import subprocess
import time
from pathlib import Path

from qgis.PyQt.QtWidgets import (
    QApplication,
)

OUT = Path(os.environ["DPSORT_TOUR"])
FOUND = {}


def keys(*names):
    """Press keys, as a hand would."""
    subprocess.run(["xdotool", "key", "--delay", "60", *names], check=True)


def text(words):
    """Type a text."""
    subprocess.run(["xdotool", "type", "--delay", "30", words], check=True)


def drag(start, end):
    """Draw with the mouse from one place of the screen to another."""
    steps = [["mousemove", *map(str, start)], ["mousedown", "1"]]
    steps += [["mousemove", str((start[0] + end[0]) // 2), str((start[1] + end[1]) // 2)]]
    steps += [["mousemove", *map(str, end)], ["mouseup", "1"]]
    for step in steps:
        subprocess.run(["xdotool", *step], check=True)
        QApplication.processEvents()
        time.sleep(0.1)


def shot(name):
    """Keep a picture of the whole screen."""
    QApplication.processEvents()
    QApplication.primaryScreen().grabWindow(0).save(str(OUT / f"{name}.png"))


def window(kind):
    """The plugin's visible window of a kind."""
    for widget in QApplication.topLevelWidgets():
        if type(widget).__name__ == kind and widget.isVisible():
            return widget
    return None


def until(done, seconds=60, again=None):
    """Wait, with QGIS alive, until something is so; a key that was too early is pressed again."""
    end, pressed = time.time() + seconds, time.time()
    while not done() and time.time() < end:
        yield 100
        if again and not done() and time.time() > pressed + 8:
            keys(again)
            pressed = time.time()
    if not done():
        raise TimeoutError("the tour waited in vain")


def pay(dialog, look=lambda: None):
    """Ask, look at the question, and pay; gives QGIS time until the run has begun.

    A run can be over before anybody looks, so its begin is noted.
    """
    began, real = [], dialog.launch

    def launch(*arguments):
        began.append(True)
        real(*arguments)

    dialog.launch = launch
    keys("alt+p")
    yield from until(lambda: window("Confirmation"), 40, "alt+p")
    yield 500
    look()
    keys("alt+p")
    yield from until(lambda: began, 40)
    del dialog.launch


def listen(message, tag, _level):
    """Keep what goes wrong in Python, which QGIS only logs."""
    if tag == "Python error":
        FOUND.setdefault("python errors", []).append(message[-1500:])
