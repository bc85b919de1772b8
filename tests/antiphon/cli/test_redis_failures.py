"""Errors of Redis that end a command name the remedy."""

from antiphon_shared.process.errors import RedisUnavailable
from redis.exceptions import ConnectionError, NoPermissionError, ResponseError

from antiphon.cli.redis_failures import failure_of


def test_a_user_without_the_right_is_shown_the_users_that_have_it() -> None:
    error = failure_of(NoPermissionError("this user has no permissions to run the 'zrange' command"))
    assert isinstance(error, RedisUnavailable)
    assert error.message == "Redis: this user has no permissions to run the 'zrange' command."
    assert "`operator` lists" in error.hint


def test_other_errors_keep_their_text() -> None:
    assert str(failure_of(ResponseError("wrong number of arguments"))) == "Redis: wrong number of arguments."
    assert failure_of(ConnectionError("refused")).retryable
