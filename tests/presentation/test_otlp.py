"""OTLP has exactly the metrics of the page for Prometheus, each of the right kind."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from prometheus_client.parser import text_string_to_metric_families

from livedeck.presentation.metrics import METRICS, metrics_text, scrape_of
from livedeck.presentation.otlp import encode_request
from livedeck.presentation.render_time import RenderTime
from presentation.test_metrics import evening, everything_counted

Row = tuple[str, frozenset[tuple[str, str]], float]


def of_otlp(content: bytes) -> Iterator[Row]:
    """Yield each value of a request, under its Prometheus name and labels."""
    (resource,) = ExportMetricsServiceRequest.FromString(content).resource_metrics
    for metric in resource.scope_metrics[0].metrics:
        kind = metric.WhichOneof("data")
        data = getattr(metric, kind)
        if kind != "gauge":
            assert data.aggregation_temporality == 2  # cumulative
        for point in data.data_points:
            labels = {attribute.key: attribute.value.string_value for attribute in point.attributes}
            start = point.start_time_unix_nano
            assert point.time_unix_nano >= start
            assert bool(start) == (kind != "gauge")
            yield from of_point(metric.name, labels, point, kind)


def of_point(name: str, labels: dict[str, str], point: Any, kind: str) -> Iterator[Row]:
    if kind != "histogram":
        yield name, frozenset(labels.items()), point.as_double or point.as_int
        return
    assert not point.HasField("min")
    bounds = [*(f"{bound:g}" for bound in point.explicit_bounds), "+Inf"]
    for bound, count in zip(bounds, accumulate(point.bucket_counts), strict=True):
        yield f"{name}_bucket", frozenset({**labels, "le": bound}.items()), count
    yield f"{name}_sum", frozenset(labels.items()), point.sum
    yield f"{name}_count", frozenset(labels.items()), point.count


def of_prometheus(text: str) -> Iterator[Row]:
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            yield sample.name, frozenset(sample.labels.items()), sample.value


def test_otlp_has_every_value_of_the_page_for_prometheus() -> None:
    snapshot = evening()
    render_time = RenderTime.from_snapshot(snapshot, snapshot.at)
    content = encode_request(
        scrape_of(snapshot, render_time, "1.2.3", everything_counted()), {}, snapshot.at, snapshot.at
    )
    page = {
        row[:2]: float(f"{row[2]:.9g}")
        for row in of_prometheus(metrics_text(snapshot, render_time, "1.2.3", everything_counted()))
    }
    pushed = {row[:2]: float(f"{row[2]:.9g}") for row in of_otlp(content)}
    assert pushed == page
    assert len({name for name, _ in page}) > len(METRICS) / 2


def test_counters_are_sums_and_only_they_grow() -> None:
    snapshot = evening()
    scrape = scrape_of(snapshot, RenderTime.from_snapshot(snapshot, snapshot.at), "1.2.3", everything_counted())
    (resource,) = ExportMetricsServiceRequest.FromString(
        encode_request(scrape, {"service.name": "livedeck"}, snapshot.at, snapshot.at)
    ).resource_metrics
    kinds = {metric.name: metric.kind for metric in METRICS}
    for metric in resource.scope_metrics[0].metrics:
        assert metric.WhichOneof("data") == {"counter": "sum"}.get(kinds[metric.name], kinds[metric.name])
        assert metric.sum.is_monotonic == (kinds[metric.name] == "counter")
        assert metric.description
