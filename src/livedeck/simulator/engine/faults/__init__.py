"""Fault layer: failures of networks, proxies and busy servers, and invalid payloads."""

from livedeck.simulator.engine.faults.effects import ABORT as ABORT
from livedeck.simulator.engine.faults.effects import FAULT_EFFECTS as FAULT_EFFECTS
from livedeck.simulator.engine.faults.effects import HLS_HITS as HLS_HITS
from livedeck.simulator.engine.faults.effects import LANDINGS as LANDINGS
from livedeck.simulator.engine.faults.effects import LATE_ANSWERS as LATE_ANSWERS
from livedeck.simulator.engine.faults.effects import SETTLE as SETTLE
from livedeck.simulator.engine.faults.effects import SKEW as SKEW
from livedeck.simulator.engine.faults.effects import ConnectionCut as ConnectionCut
from livedeck.simulator.engine.faults.effects import apply_faults as apply_faults
from livedeck.simulator.engine.faults.matching import Fault as Fault
from livedeck.simulator.engine.faults.matching import FaultCounts as FaultCounts
from livedeck.simulator.engine.faults.matching import FaultHit as FaultHit
from livedeck.simulator.engine.faults.matching import Faults as Faults
