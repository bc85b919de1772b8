"""Pictures of workflows: every node and edge is in them, nothing overlaps, and no text breaks them."""

import re
from itertools import combinations, pairwise
from typing import Any
from xml.etree import ElementTree

import pytest
from antiphon_shared.workflows.order import edges_of
from antiphon_shared.workflows.specification import Workflow
from hypothesis import given

from antiphon.workflows.layout import Edge, Size, laid_out
from antiphon.workflows.load import load
from antiphon.workflows.svg import as_svg
from tests.antiphon.conftest import ROOT
from tests.coordinator.workflows.drawn import graphs

SVG = "{http://www.w3.org/2000/svg}"
Box = tuple[float, float, float, float]


class Picture:
    """A picture that was read again."""

    def __init__(self, graph: dict[str, Any], description: str = "Drawn.") -> None:
        self.workflow = Workflow.model_validate({"description": description, "graph": graph})
        self.text = as_svg("drawn", self.workflow)
        self.root = ElementTree.fromstring(self.text)
        groups = list(self.root.iter(f"{SVG}g"))
        self.nodes = [one for one in groups if "data-node" in one.attrib]
        self.edges = [one for one in groups if "data-from" in one.attrib]

    def node(self, id: str) -> ElementTree.Element:
        return next(one for one in self.nodes if one.attrib["data-node"] == id)

    def boxes(self) -> list[Box]:
        found = (node.find(f"{SVG}rect") for node in self.nodes)
        return [_box(rect) for rect in found if rect is not None]


def _box(rect: ElementTree.Element) -> Box:
    x, y, width, height = (float(rect.attrib[name]) for name in ("x", "y", "width", "height"))
    return x, y, x + width, y + height


def texts(element: ElementTree.Element) -> list[str]:
    """Return the lines of text, then the title."""
    return [one.text or "" for tag in ("text", "title") for one in element.iter(f"{SVG}{tag}")]


def overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


@given(graphs())
def test_every_node_and_edge_is_there_once_and_no_boxes_overlap(graph: dict[str, Any]) -> None:
    picture = Picture(graph)
    assert [one.attrib["data-node"] for one in picture.nodes] == [*graph]
    drawn = {
        (one.attrib["data-from"], one.attrib["data-to"]): "activation" in one.attrib["class"]
        for one in picture.edges
    }
    after = edges_of(picture.workflow.graph)
    assert len(drawn) == len(picture.edges)
    assert drawn.keys() == {(one, other) for one, others in after.items() for other in others}
    for (source, target), is_activation in drawn.items():
        assert is_activation == (source not in picture.workflow.graph[target].depends_on)
    assert not [pair for pair in combinations(picture.boxes(), 2) if overlap(*pair)]
    assert all(x >= 0 and y >= 0 for x, y, _, _ in picture.boxes())
    assert picture.text == Picture(graph).text


@given(graphs())
def test_edges_lead_down_and_pass_no_box(graph: dict[str, Any]) -> None:
    sizes = {id: Size(80 + 10 * n, 40 + 9 * n) for n, id in enumerate(graph)}
    after = edges_of(Workflow.model_validate({"description": "Drawn.", "graph": graph}).graph)
    edges = [Edge(one, other, Size(70, 16)) for one, others in after.items() for other in others]
    layout = laid_out(sizes, edges)
    boxes = {
        id: (place.x - sizes[id].width / 2, place.top, place.x + sizes[id].width / 2, place.bottom)
        for id, place in layout.boxes.items()
    }
    for edge, way in zip(edges, layout.ways, strict=True):
        label = (way[1].x - 35, way[1].top, way[1].x + 35, way[1].bottom)
        assert not [id for id, box in boxes.items() if overlap(label, box)]
        for place, following in pairwise(way):
            assert place.top <= place.bottom < following.top
            at = (place.x, place.top, place.x, place.bottom)
            others = {id: box for id, box in boxes.items() if id not in (edge.source, edge.target)}
            assert not [id for id, box in others.items() if overlap(at, box)]


def test_the_example_is_drawn_whole() -> None:
    workflow = load(ROOT / "examples/travel/workflows.yaml").workflows["book_trip"]
    picture = Picture({id: node.model_dump(by_alias=True) for id, node in workflow.graph.items()})
    assert texts(picture.node("trip"))[:2] == ["trip", "call confirm_trip"]
    assert "room: workflow book_hotel" in texts(picture.node("both"))
    labels = {texts(one)[0] for one in picture.edges if "activation" in one.attrib["class"]}
    assert labels == {"on partial failure", "on error"}
    assert re.search(r"@media \(prefers-color-scheme: dark\)", picture.text)


def test_what_is_undone_is_marked() -> None:
    undo = {"type": "compensate", "steps": [{"call": "drop_all"}]}
    own = {"call": "book", "compensate": {"call": "drop"}}
    parallel = {"type": "parallel", "branches": {"x": own}, "on_partial_failure": "rollback_all"}
    picture = Picture({"a": own, "p": parallel, "rollback_all": undo})
    assert "undone by drop" in texts(picture.node("a"))
    assert texts(picture.node("p"))[2:4] == ["x: call book", "undone by drop"]
    assert "undo by drop_all" in texts(picture.node("rollback_all"))
    assert [texts(one)[0] for one in picture.edges] == ["on partial failure"]


def test_a_node_called_as_a_way_to_fail_gets_no_edge_by_that() -> None:
    parallel = {"type": "parallel", "branches": {"x": {"call": "book"}}}
    assert Picture({"p": parallel, "abort": {"call": "look"}}).edges == []


def test_two_ways_to_one_node_are_one_edge_with_both_reasons() -> None:
    branch = {"type": "branch", "on": [{"when": "$p > 1", "goto": "a"}, {"default": "a"}]}
    picture = Picture({"b": branch, "a": {"call": "look"}})
    assert [texts(one)[0] for one in picture.edges] == ["$p > 1 or default"]


@pytest.mark.parametrize(
    "hostile",
    [
        "</text><script>alert(1)</script>\"'&lt;",
        "a\x00b\x1b[2J\x0b\ufffe\uffff\u202e",
        "]]>",
        "好" * 100,
        "m" * 5_000,
    ],
)
def test_no_text_breaks_the_picture(hostile: str) -> None:
    graph = {
        "a": {"call": hostile[:64], "description": hostile[:2_000], "when": hostile[:2_000]},
        "b": {
            "type": "branch",
            "depends_on": ["a"],
            "on": [{"when": hostile[:2_000], "goto": "e"}, {"default": "f"}],
        },
        "e": {"type": "error", "message": hostile},
        "f": {"type": "reason", "question": hostile},
    }
    picture = Picture(graph, hostile)
    assert {one.tag.removeprefix(SVG) for one in picture.root.iter()} <= {
        *("svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text", "g")
    }
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", picture.text)
    assert not [pair for pair in combinations(picture.boxes(), 2) if overlap(*pair)]
    assert all(right - left < 320 for left, _, right, _ in picture.boxes())


def test_what_is_cut_stands_whole_in_the_title() -> None:
    question = "Which of the museums of the town is open on Sundays, " * 4 + "and which is free?"
    shown = texts(Picture({"a": {"type": "reason", "question": question}}).node("a"))
    assert shown[2].endswith("…")
    assert question in shown[-1]


def test_a_thousand_nodes_and_one_are_drawn() -> None:
    def node(n: int) -> dict[str, Any]:
        needed = sorted({*range(max(0, n - 2), n), n // 2} - {n})
        way = {"on_error": {"fallback": f"n{n + 7}"}} if n % 9 == 0 and n < 990 else {}
        return {"call": "look", "depends_on": [f"n{one}" for one in needed], **way}

    picture = Picture({f"n{n}": node(n) for n in range(1_000)})
    assert len(picture.nodes) == 1_000
    assert len(picture.edges) == sum(map(len, edges_of(picture.workflow.graph).values()))
    by_top = sorted(picture.boxes(), key=lambda box: box[1])
    assert not [pair for pair in pairwise(by_top) if overlap(*pair)]
    assert len(Picture({"a": {"call": "look"}}).nodes) == 1


def test_a_cycle_is_refused() -> None:
    with pytest.raises(ValueError, match="must have no cycles"):
        Picture({"a": {"call": "look", "depends_on": ["b"]}, "b": {"call": "look", "depends_on": ["a"]}})


def test_a_picture_fetches_nothing() -> None:
    """Nothing is fetched: no addresses but the name of the format."""
    picture = Picture({"a": {"call": "look"}})
    assert re.findall(r"https?://[^\"' ]+", picture.text) == ["http://www.w3.org/2000/svg"]
    assert re.findall(r"url\(([^)]*)\)|@import|href", picture.text) in ([], ["#antiphon-tip"])
