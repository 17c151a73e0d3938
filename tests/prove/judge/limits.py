"""Invariants of limits: no more is accepted than the plan allows, and the shown usage is the real one."""

from bisect import bisect_left, bisect_right
from collections import defaultdict

from judge.bounds import PLAN_CHANGED_WITHIN_S

# The plan of a new key.
EXPLORER = {"minute": 20, "day": 1000, "month": 1000, "second": 10}
SPANS = {"minute": 60, "day": 86_400}


def limits_are_exact(facts, verdict):
    """All nodes together accept no more requests in a minute or day, and no more messages in a month, than allowed.

    Messages of a second are limited too, with a burst of one second.
    """
    plans = plans_by_key(facts)
    for key, calls in counted_by_key(facts).items():
        for window, span in SPANS.items():
            by_start = defaultdict(list)
            for call in calls:
                start, last = start_of(facts, call.began, span), start_of(facts, call.ended, span)
                if start == last:
                    by_start[start].append(call)
            for start, inside in by_start.items():
                lost = sum(facts.is_lost_count(call) for call in inside)
                began = start - facts.history.wall_offset
                limit = highest(plans, key, window, began, began + span)
                verdict.check(len(inside) - lost <= limit, f"{key}: {len(inside)} requests in a {window} of {limit}",
                              inside[-1])
        sends = [call for call in calls if is_stored(call)]
        ends = sorted(call.ended for call in sends)
        for call in sends:
            limit, before = highest(plans, key, "month", call.began, call.ended), bisect_right(ends, call.began)
            verdict.check(before < limit, f"{key}: {before + 1} messages in a month of {limit}", call)
        _check_second(facts, verdict, plans, key, sends)


def _check_second(facts, verdict, plans, key, sends):
    ends = sorted(call.ended for call in sends)
    for call in sends:
        # All sends that began and ended within the next 1.5 seconds.
        last = call.began + 1.5
        inside = [other for other in sends if call.began <= other.began and other.ended <= last]
        limit = highest(plans, key, "second", call.began, last)
        if bisect_right(ends, last) - bisect_left(ends, call.began) > limit:
            # A burst of one second, and the messages of 1.5 seconds.
            verdict.check(len(inside) <= limit * 2.5 + 1,
                          f"{key}: {len(inside)} messages in 1.5 s, at {limit} a second", *inside[-1:])


def usage_equals_the_admitted_requests(facts, verdict):
    """The usage that `status` shows is the number of requests and messages that the service accepted.

    Requests without a response, and requests that overlap, may or may not be in the number.
    """
    counted, possible = counted_by_key(facts), possible_by_key(facts)
    for call in facts.by_name["status"]:
        if call.outcome != "ok" or call.probe:
            continue
        for window, span in SPANS.items():
            start = start_of(facts, call.began, span)
            if start != start_of(facts, call.ended, span):
                continue
            began = start - facts.history.wall_offset
            sure = [it for it in counted[call.key] if began <= it.began and it.ended <= call.began and
                    not facts.is_lost_count(it)]
            maybe = [it for it in possible[call.key] if it.ended > began and it.began < call.ended]
            used = call.answer["usage"][window]["used"]
            # The request itself counts.
            verdict.check(len(sure) < used <= len(maybe),
                          f"{window}: {used} used, {len(sure) + 1} to {len(maybe)} sent", call)
        sure = [it for it in counted[call.key] if is_stored(it) and it.ended <= call.began]
        maybe = [it for it in possible[call.key] if it.name == "send" and it.began < call.ended and
                 (it.outcome == "unknown" or is_stored(it))]
        used = call.answer["usage"]["month"]["used"]
        verdict.check(len(sure) <= used <= len(maybe), f"month: {used} used, {len(sure)} to {len(maybe)} sent", call)


def counted_by_key(facts):
    """Returns the requests of each key that count for certain: the rate check has accepted them."""
    return by_key([call for call in facts.calls if is_admitted(call)])


def is_admitted(call):
    """Returns whether the rate check has accepted a request. Every response after this check has the header."""
    return "ratelimit" in call.headers and call.status != 429


def possible_by_key(facts):
    """Returns the requests of each key that may count."""
    def may_count(call):
        return is_admitted(call) or call.outcome == "unknown" or call.status == 503
    return by_key([call for call in facts.calls if may_count(call)])


def by_key(calls):
    """Groups calls by key, without the commands of operators."""
    groups = defaultdict(list)
    for call in calls:
        groups[call.key].append(call)
    return groups


def is_stored(call):
    """Returns whether a call stored an envelope for certain."""
    return call.name == "send" and call.outcome == "ok" and "idempotency-replayed" not in call.headers


def plans_by_key(facts):
    """Returns the changes of each key's plan, in their order."""
    plans = defaultdict(list)
    for call in facts.by_name["plan"]:
        if call.outcome != "refused":
            plans[call.key].append(call)
    return plans


def highest(plans, key, window, began, ended):
    """Returns the highest limit of a key that may hold at some time in a span."""
    limits, current = [], EXPLORER[window]
    for call in plans[key]:
        if call.began > ended:
            break
        if call.outcome == "ok" and call.ended + PLAN_CHANGED_WITHIN_S < began:
            limits = []
            current = call.body[window]
        else:
            limits.append(call.body[window])
    return max([current, *limits])


def start_of(facts, at, span):
    """Returns the start of the window that contains a time, in Unix seconds. Windows are aligned to UTC."""
    wall = facts.history.wall(at)
    return wall - wall % span
