"""Deceptive names, and the text to type: the real name letter by letter, or the end of the id."""

from __future__ import annotations

import pytest

from livedeck.operations.names import MAX_TYPED, Named, id_end, warnings, word_to_type
from livedeck.operations.operation import Confirmation, ConfirmLevel, Target, recognisable

ID = "5d1c8f00-0000-4000-8000-0000001a2b3c"
OTHER = "77aa0000-0000-4000-8000-000000ddeeff"
MAIN = Named(ID, "Main stage")


@pytest.mark.parametrize(
    "name", ["Main stage", "Choir, hall B", "A to Z of jazz", "C++ & co (2026) #1", "x" * MAX_TYPED]
)
def test_the_whole_name_is_typed_where_every_keyboard_has_its_letters(name: str) -> None:
    assert word_to_type(Named(ID, name), [Named(OTHER, "Mainstage talk"), Named(OTHER, name + " 2")]) == name
    assert warnings(Named(ID, name), (), "event") == ()


@pytest.mark.parametrize(
    "name",
    [
        "",
        "東京 2026",
        "«Été» live",
        "Finale 🎉",
        "x" * (MAX_TYPED + 1),
        "Main\u200b stage",
        "Main  stage",
        " Main",
        "a\tb",
    ],
)
def test_else_the_end_of_the_id_is_typed(name: str) -> None:
    assert word_to_type(Named(ID, name), ()) == "1a2b3c"


@pytest.mark.parametrize(
    ("name", "looks"),
    [
        ("Main stage", "the same name"),
        ("MAIN STAGE", "a name that looks the same"),
        ("M\u0430in stage", "a name that looks the same"),  # a Cyrillic letter
        ("Main\u200b stage", r'a name that looks the same, "Main\u200b stage"'),
        ("\u202eMain stage", r'a name that looks the same, "\u202eMain stage"'),
        ("Main\u00a0stage", "a name that looks the same"),
        ("\uff2d\uff41\uff49\uff4e stage", "a name that looks the same"),  # of full width
        ("Ma1n stage", "a name that looks the same"),
    ],
)
def test_a_name_that_another_one_has_or_seems_to_have_is_not_enough(name: str, looks: str) -> None:
    others = [MAIN, Named(OTHER, name)]
    assert word_to_type(MAIN, others) == "1a2b3c"
    (warning,) = warnings(MAIN, others, "event")
    assert warning.startswith(f"Another event has {looks}")
    assert warning.endswith("(id …ddeeff).")


@pytest.mark.parametrize("name", ["Main stages", "Main stage 2", "Side stage", "", "Fête", "Fete"])
def test_a_name_that_differs_to_the_eye_is_no_namesake(name: str) -> None:
    assert warnings(MAIN, [Named(OTHER, name)], "event") == ()


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("Main\u200b stage", r'Its name has invisible letters: "Main\u200b stage".'),
        ("Main \u200fstage", r'Its name has invisible letters: "Main \u200fstage".'),
        ("Main\u202e stage", r'Its name has invisible letters: "Main\u202e stage".'),
        ("Main\x1b[2J", r'Its name has invisible letters: "Main\x1b[2J".'),
        ("Main stage ", 'Its name has hidden blanks: "Main stage␣".'),
        ("Main\u00a0stage", 'Its name has hidden blanks: "Main␣stage".'),
        ("M\u0430in stage", 'Its name mixes alphabets in one word, Cyrillic and Latin: "M\u0430in".'),
        ("\uff2dain stage", 'Its name mixes alphabets in one word, Fullwidth and Latin: "\uff2dain".'),
        ("\U0001d40c\U0001d41a stage", 'Its name has letters that look like others: "\U0001d40c\U0001d41a".'),
    ],
)
def test_letters_that_deceive_are_warned_of(name: str, warning: str) -> None:
    assert warnings(Named(ID, name), (), "event") == (warning,)


@pytest.mark.parametrize(
    "name",
    [
        "Übertragung Südwind", "Сцена два", "Κύρια σκηνή", "NHK東京 ライブ", "서울 live", "1º de mayo", "Main и Side",
        "שידור חי", "بث مباشر", "हिन्दी", "👩‍👩‍👧 family", "fête № 2", "Deck² ½",
    ],
)  # fmt: skip
def test_names_of_any_one_alphabet_deceive_nobody(name: str) -> None:
    assert warnings(Named(ID, name), (), "event") == ()


def test_of_many_namesakes_some_are_listed_and_all_are_counted() -> None:
    others = [Named(f"{number:036}", "Main stage") for number in range(5)]
    told = warnings(MAIN, others, "event")
    assert [text[:40] for text in told] == [
        *["Another event has the same name (id …000"] * 3,
        "2 more have such a name.",
    ]


def test_an_end_that_two_ids_share_is_not_enough() -> None:
    twin = Named("0" * 30 + id_end(ID), "Side stage")
    assert word_to_type(Named(ID, "東京"), [twin]) == ID


def told(name: str, *others: Named) -> Confirmation:
    """Return the confirmation for an event of that name."""
    plain = Confirmation("Complete?", (), "Complete", ConfirmLevel.TYPE_NAME)
    return recognisable(plain, Target("event", ID, "Main stage"), name, others)


@pytest.mark.parametrize(
    "typed",
    ["main stage", "MAIN STAGE", "Main", "main", "Main  stage", "Main\u200b stage", "M\u0430in stage", "", "1a2b3c"],
)
def test_a_name_is_compared_letter_by_letter(typed: str) -> None:
    confirmation = told("Main stage")
    assert confirmation.wants_name
    assert confirmation.is_word("Main stage")
    assert not confirmation.is_word(typed)
    assert not confirmation.is_name(typed)


@pytest.mark.parametrize("typed", ["Main stage", "", "a2b3c", "Main\u200b stage"])
def test_the_cleaned_form_of_a_name_confirms_nothing(typed: str) -> None:
    confirmation = told("Main\u200b stage")
    assert confirmation.is_word("1A2B3C")
    assert not confirmation.is_word(typed)
    assert confirmation.is_name(typed) is (typed == "Main\u200b stage")


def test_a_name_that_two_have_confirms_neither() -> None:
    confirmation = told("Main stage", Named(OTHER, "Main stage"))
    assert not confirmation.is_word("Main stage")
    assert not confirmation.is_name("Main stage")
    assert confirmation.title == "Complete? (id …1a2b3c)"
