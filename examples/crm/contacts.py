"""The values of the register."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

Name = Annotated[str, Field(min_length=1, max_length=100, pattern=r"^\S(.*\S)?$", description="Full name.")]
Email = Annotated[
    str,
    Field(
        max_length=254,
        pattern=r"^[A-Za-z0-9._%+-]+@([A-Za-z0-9-]+\.)+[A-Za-z]{2,}$",
        description="E-mail address, such as ada@quill.example.",
    ),
]
Phone = Annotated[
    str,
    Field(pattern=r"^\+[1-9][0-9]{6,14}$", description="International number without spaces: +4930123456."),
]
Company = Annotated[str, Field(max_length=100, description="Where the person works.")]
CustomerId = Annotated[str, Field(pattern=r"^C-[1-9][0-9]{3,8}$", description="Customer id, such as C-1001.")]


class NewContact(BaseModel):
    """A person to be put into the register."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    __example__: ClassVar[dict[str, Any]] = {
        "name": "Ada Quill",
        "email": "ada@quill.example",
        "phone": "+4930123456",
        "company": "Quill and Daughters",
    }

    name: Name
    email: Email
    phone: Phone | None = None
    company: Company | None = None


class Contact(NewContact):
    """A person in the register."""

    customer: CustomerId
    version: int = Field(description="Counts up with every change; `update_contact` asks for it.")


class Created(BaseModel):
    """What came of one contact of a batch."""

    index: int
    status: Literal["ok"] = "ok"
    data: Contact


class Tally(BaseModel):
    ok: int
    error: int = 0


class CreatedContacts(BaseModel):
    """What came of a batch, in the order of its contacts. There is none that half succeeded."""

    results: list[Created]
    summary: Tally
