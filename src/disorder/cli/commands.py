"""Commands, made from the options that requests declare: parsing, help by group, completion.

A command is a function with arguments and, for each of its parameters that is a TypedDict, all
options of that request. Commands of plugins are beside ours.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import CommandFunctionType, CommandInfo

from disorder.cli.output import owned_standard_output, print_text
from disorder.requests.option import Declared, declared_in
from disorder.requests.settings import checked_value

METAVARS = {int: "INTEGER", float: "FLOAT"}
MANY = 12  # options: with more, --help shows the common ones
EVERYTHING = "every option"  # key of what --help-all leaves in a context
SIDE = re.compile(r"[:,]side=(\w+)")  # in the spec of a transformation, as it was written


class Command(TyperCommand):
    """A command; nothing else can print between its results."""

    declared: Mapping[str, Declared] = {}
    examples: Sequence[str] = ()

    def invoke(self, ctx: Any) -> Any:
        """Run it; its help is printed before that."""
        with owned_standard_output():
            return super().invoke(ctx)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read what was typed; an option that has another name now is taken with a note."""
        for declared in self.declared.values():
            if declared.option.was:
                args = _renamed(args, declared.flags[-1], declared.flags[0])
        _note_sides(args)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The arguments, then the common options with examples, or every option by group."""
        sections = self._sections(ctx, is_all=bool(ctx.meta.get(EVERYTHING)))
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)
        if self.examples and not ctx.meta.get(EVERYTHING):
            with formatter.section("Examples"):
                for example in self.examples:
                    formatter.write_text(example)

    def _sections(self, ctx: Any, *, is_all: bool) -> dict[str, list[tuple[str, str]]]:
        """Help by title; of many options, those that are not common are left to --help-all."""
        has_common = len(self.declared) > MANY
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            declared = self.declared.get(param.name or "")
            if param.param_type_name == "argument":
                title = "Arguments"
            elif is_all or not has_common:
                title = declared.option.group if declared else "Options"
            elif declared is None or declared.option.is_common:
                title = "Common options"
            else:
                continue
            record = param.get_help_record(ctx)
            if record is not None:
                sections.setdefault(title, []).append(record)
        return sections


def _renamed(args: list[str], old: str, new: str) -> list[str]:
    """Words with the new name of an option, of which a note tells."""
    found = [new + word[len(old) :] if word.split("=")[0] == old else word for word in args]
    if found != args:
        print_text(f"{old} is now written {new}", is_error=True)
    return found


def _note_sides(args: Sequence[str]) -> None:
    """Tell how the text that a transformation perturbs is written now."""
    from disorder.types import OF_SIDES

    named = {found[1] for word in args for found in SIDE.finditer(word)}
    for side in sorted(named & OF_SIDES.keys()):
        print_text(f"side={side} is now written on={'+'.join(OF_SIDES[side])}", is_error=True)


class Commands(typer.Typer):
    """A group of such commands."""

    def command(
        self, name: str | None = None, *, examples: Sequence[str] = (), **more: Any
    ) -> Callable[[CommandFunctionType], CommandFunctionType]:
        """Register a function as a command."""

        def register(function: CommandFunctionType) -> CommandFunctionType:
            called, made = _made(function, examples)
            super(Commands, self).command(name, **({"cls": made} | more))(called)
            return function

        return register


class AllCommands(TyperGroup):
    """The commands of the program, and those that come in by the registry: these are loaded when a
    name is none of ours, or when all are listed.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name."""
        if cmd_name not in self.commands:
            self._add_registered()
        return super().get_command(ctx, cmd_name)

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        self._add_registered()
        return super().list_commands(ctx)

    def _add_registered(self) -> None:
        from disorder.registry import VerbPart, parts

        for name, verb in parts(VerbPart).items():
            if name not in self.commands:
                called, made = _made(verb.function, ())
                self.commands[name] = typer.main.get_command_from_info(
                    CommandInfo(name, cls=made, callback=called),
                    pretty_exceptions_short=True,
                    rich_markup_mode=None,
                )


def _made(
    function: Callable[..., Any], examples: Sequence[str]
) -> tuple[Callable[..., Any], type[Command]]:
    """A function as typer reads it, and the kind of command that it is."""
    called, declared = _with_options(function)
    return called, type("Command", (Command,), {"declared": declared, "examples": examples})


def _with_options(
    function: Callable[..., Any],
) -> tuple[Callable[..., Any], dict[str, Declared]]:
    """The function as typer reads it, and the options of its requests."""
    signature = inspect.signature(function, eval_str=True)
    requests = {
        name: each.annotation
        for name, each in signature.parameters.items()
        if typing.is_typeddict(each.annotation)
    }
    declared = {name: d for each in requests.values() for name, d in declared_in(each).items()}
    own = [each for name, each in signature.parameters.items() if name not in requests]
    parameters = [*own, *map(_parameter, declared.values()), HELP_ALL]

    def called(**given: Any) -> Any:
        values = {name: given[name] for name in signature.parameters if name in given}
        for keyword, request in requests.items():
            values[keyword] = _given(function.__name__, request, given)
        return function(**values)

    called.__name__ = function.__name__
    called.__doc__ = function.__doc__
    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called, declared


def _given(verb: str, request: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The options of a request that were typed; where it must be whole, the others too."""
    found = {}
    for name, declared in declared_in(request).items():
        if values[name] not in (None, [], ()):
            found[name] = values[name]
        elif getattr(request, "__total__", False):
            found[name] = declared.default
    if not getattr(request, "__total__", False):
        return found  # the verb checks them
    return {
        name: checked_value(verb, declared_in(request)[name], value)
        for name, value in found.items()
    }


def _parameter(declared: Declared) -> inspect.Parameter:
    """An option as typer reads it: as text, since the request checks and converts it."""
    is_flag = bool in (declared.type, *typing.get_args(declared.type))
    more: dict[str, Any] = {}
    if not is_flag:
        more["metavar"] = next(iter(_metavars(declared.type)), "TEXT")
    if declared.choices:
        more["autocompletion"] = _completion(declared.choices)
    info = typer.Option(*declared.flags, help=declared.help, show_default=False, **more)
    kind = bool if is_flag else list[str] if declared.is_repeated else str
    return inspect.Parameter(
        declared.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, info],
    )


def _metavars(hint: Any) -> Iterable[str]:
    for each in typing.get_args(hint) or (hint,):
        if each in METAVARS:
            yield METAVARS[each]


def _completion(choices: Sequence[str]) -> Callable[[str], list[str]]:
    def complete(incomplete: str) -> list[str]:
        return [choice for choice in choices if choice.startswith(incomplete)]

    return complete


def _show_all(context: typer.Context, wanted: bool) -> None:
    if wanted:
        context.meta[EVERYTHING] = True
        print_text(context.get_help())
        raise typer.Exit


HELP_ALL = inspect.Parameter(
    "help_all",
    inspect.Parameter.KEYWORD_ONLY,
    default=False,
    annotation=Annotated[
        bool,
        typer.Option(
            "--help-all", is_eager=True, callback=_show_all, help="Show every option, by group."
        ),
    ],
)
