"""The workflows that a deployment has published: by name, the specification that each is of. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import Field

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.stored import Kind
from antiphon_shared.values import Value
from antiphon_shared.workflows.params import Name
from antiphon_shared.workflows.specification import Specification, specification_hash


class PublishedWorkflow(Value):
    """One workflow that can be run by its name."""

    domain: str
    version: str
    specification: str = Field(description="Hash of the specification, under which it is kept.")


class Publication(Value):
    """All that can be run by name."""

    workflows: dict[Name, PublishedWorkflow] = {}

    @property
    def hashes(self) -> Mapping[str, str]:
        """The specification of each workflow."""
        return {name: one.specification for name, one in self.workflows.items()}

    def with_all(self, specifications: Iterable[Specification]) -> "Publication":
        """Return the publication with these, each in the place of what was published of its domain.

        Raises ConfigurationError where two domains have a workflow of one name.
        """
        workflows: dict[str, Any] = dict(self.workflows)
        for one in specifications:
            workflows = {name: old for name, old in workflows.items() if old.domain != one.domain}
            content_hash = specification_hash(one)
            for name in one.workflows:
                if name in workflows:
                    raise ConfigurationError(
                        f"Two domains have a workflow {name!r}: {workflows[name].domain} and {one.domain}.",
                        hint="A workflow is run by its name alone. Rename one of them.",
                    )
                workflows[name] = PublishedWorkflow(
                    domain=one.domain, version=one.version, specification=content_hash
                )
        return Publication(workflows=workflows)


PUBLICATION: Kind[Publication] = Kind("the published workflows", Publication)
SPECIFICATION: Kind[Specification] = Kind("a workflow specification", Specification)
