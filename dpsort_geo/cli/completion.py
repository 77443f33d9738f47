"""What a shell needs to complete the command, its options and files."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from .words import list_examples


@click.command(
    epilog=list_examples(
        "dpsort-geo completion bash > ~/.local/share/bash-completion/completions/dpsort-geo",
        "dpsort-geo completion zsh > ~/.zfunc/_dpsort-geo",
        "dpsort-geo completion fish > ~/.config/fish/completions/dpsort-geo.fish",
    )
)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print what SHELL needs to complete dpsort-geo with the tab key."""
    kind = get_completion_class(shell)
    assert kind is not None
    made = kind(context.find_root().command, {}, "dpsort-geo", "_DPSORT_GEO_COMPLETE")
    click.echo(made.source_template % made.source_vars())
