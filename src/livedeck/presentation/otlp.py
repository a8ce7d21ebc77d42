"""The metrics as an OTLP request (scripting.md, "OpenTelemetry"). Pure.

Needs the OpenTelemetry SDK; `encode_request` and `rejection` raise ImportError without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

from livedeck.presentation.metrics import METRICS, Metric, Sample, Scrape
from livedeck.text.secrets import masked_line

if TYPE_CHECKING:
    from opentelemetry.sdk.metrics.export import HistogramDataPoint, NumberDataPoint
    from opentelemetry.sdk.metrics.export import Metric as OtlpMetric

CONTENT_TYPE = "application/x-protobuf"
"""Media type of a request."""

PACKAGE_NEEDED = "OTLP needs packages: pip install '.[otlp]' in the checkout"


def encode_request(scrape: Scrape, resource: Mapping[str, str], started_at: datetime, at: datetime) -> bytes:
    """Return every metric with samples as an ExportMetricsServiceRequest.

    Args:
        scrape: Data of the metrics.
        resource: Attributes of the process.
        started_at: Time at which the process began to count, by this machine's clock.
        at: Time of the values, by the same clock.
    """
    from opentelemetry.exporter.otlp.proto.common.metrics_encoder import encode_metrics
    from opentelemetry.sdk.metrics.export import MetricsData, ResourceMetrics, ScopeMetrics
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.util.instrumentation import InstrumentationScope

    times = _nanoseconds(started_at), _nanoseconds(at)
    metrics = [_metric(metric, samples, times) for metric in METRICS if (samples := metric.samples(scrape))]
    scoped = ScopeMetrics(InstrumentationScope("livedeck", scrape.version), metrics, "")
    data = MetricsData([ResourceMetrics(Resource({**resource}), [scoped], "")])
    content: bytes = encode_metrics(data).SerializeToString()
    return content


def rejection(reply: bytes) -> str:
    """Return the reason why the receiver dropped a part of an accepted request; empty if it dropped nothing."""
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceResponse

    try:
        partial = ExportMetricsServiceResponse.FromString(reply).partial_success
    except DecodeError:  # no OTLP, but the status said that it was accepted
        return ""
    count = partial.rejected_data_points
    return masked_line(f"{count} values rejected: {partial.error_message}", 300) if count else ""


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1e6) * 1000


def _metric(metric: Metric, samples: Iterable[Sample], times: tuple[int, int]) -> OtlpMetric:
    """Return a metric with its samples. `times`: start of the counts, and time of the values (ns since 1970)."""
    from opentelemetry.sdk.metrics.export import AggregationTemporality, Gauge, Histogram, Sum
    from opentelemetry.sdk.metrics.export import Metric as OtlpMetric

    cumulative = AggregationTemporality.CUMULATIVE
    data = (
        Histogram(list(_histograms(metric, samples, times)), cumulative)
        if metric.kind == "histogram"
        else Sum(list(_numbers(metric, samples, times)), cumulative, is_monotonic=True)
        if metric.kind == "counter"
        else Gauge(list(_numbers(metric, samples, times)))
    )
    return OtlpMetric(metric.name, metric.help, None, data)


def _numbers(metric: Metric, samples: Iterable[Sample], times: tuple[int, int]) -> Iterator[NumberDataPoint]:
    from opentelemetry.sdk.metrics.export import NumberDataPoint

    for sample in samples:
        assert sample.value is not None
        yield NumberDataPoint(_attributes(metric, sample), *times, sample.value)


def _histograms(metric: Metric, samples: Iterable[Sample], times: tuple[int, int]) -> Iterator[HistogramDataPoint]:
    """Yield a histogram for each run of samples with equal labels. OTLP counts each bucket by itself."""
    from opentelemetry.sdk.metrics.export import HistogramDataPoint

    unknown: Any = None  # optional in OTLP, and not in the SDK's types
    for _, group in groupby(samples, lambda sample: sample.labels):
        parts = list(group)
        buckets = [(sample.bound, int(sample.value or 0)) for sample in parts if sample.suffix == "_bucket"]
        values = {sample.suffix: sample.value or 0.0 for sample in parts if not sample.bound}
        yield HistogramDataPoint(
            attributes=_attributes(metric, parts[0]),
            start_time_unix_nano=times[0],
            time_unix_nano=times[1],
            count=int(values["_count"]),
            sum=values["_sum"],
            bucket_counts=[after - before for before, after in pairwise([0, *(count for _, count in buckets)])],
            explicit_bounds=[float(bound) for bound, _ in buckets if bound != "+Inf"],
            min=unknown,
            max=unknown,
        )


def _attributes(metric: Metric, sample: Sample) -> dict[str, str]:
    return dict(zip(metric.labels, sample.labels, strict=True))
