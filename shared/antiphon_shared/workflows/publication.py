"""The published workflows of a deployment: for each domain, the specification that can be run by name. Pure."""

from collections.abc import Iterable, Mapping

from pydantic import Field

from antiphon_shared.process.errors import ConfigurationError
from antiphon_shared.stored import Kind
from antiphon_shared.values import Value
from antiphon_shared.workflows.params import Name
from antiphon_shared.workflows.specification import Specification, specification_hash


class PublishedDomain(Value):
    """The workflows of one domain that can be run by their names."""

    version: str
    specification: str = Field(description="Hash of the specification, under which it is kept.")
    workflows: tuple[Name, ...]


class Publication(Value):
    """All workflows that can be run by name."""

    domains: dict[str, PublishedDomain] = {}

    @property
    def hashes(self) -> Mapping[str, str]:
        """Return the hash of each workflow's specification."""
        return {
            name: one.specification
            for _, one in sorted(self.domains.items(), reverse=True)
            for name in one.workflows
        }

    def with_all(self, specifications: Iterable[Specification]) -> "Publication":
        """Return the publication with these specifications, each in place of the earlier one of its domain.

        Raises ConfigurationError when two domains have a workflow of the same name.
        """
        own = {one.domain: published(one) for one in specifications}
        domains = {**self.domains, **own}
        owners: dict[str, str] = {}
        for domain, one in domains.items():
            for name in one.workflows:
                if name in owners:
                    raise ConfigurationError(
                        f"Two domains have a workflow {name!r}: {owners[name]} and {domain}.",
                        hint="A workflow is run by its name alone. Rename one of them, or withdraw a domain: "
                        f"`antiphon workflows withdraw {owners[name]}`.",
                    )
                owners[name] = domain
        return Publication(domains=domains)


def published(specification: Specification) -> PublishedDomain:
    """Return the publication of a specification."""
    return PublishedDomain(
        version=specification.version,
        specification=specification_hash(specification),
        workflows=tuple(specification.workflows),
    )


PUBLISHED_DOMAIN: Kind[PublishedDomain] = Kind("the published workflows of a domain", PublishedDomain)
SPECIFICATION: Kind[Specification] = Kind("a workflow specification", Specification)
