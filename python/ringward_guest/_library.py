"""Finds and loads libringward_guest.so, and declares its functions to ctypes."""
import ctypes
import os
import pathlib

ABI_VERSION = 1
NAME = "libringward_guest.so.1"

_HANDLE = ctypes.c_void_p
# Name of the function -> (type of its result, types of its arguments): ringward_guest.h.
_FUNCTIONS = {
    "abi_version": (ctypes.c_uint32, []),
    "open": (_HANDLE, [ctypes.c_char_p, ctypes.c_int32, ctypes.c_int32, ctypes.c_void_p]),
    "close": (None, [_HANDLE]),
    "status": (ctypes.c_int32, [_HANDLE]),
    "status_text": (ctypes.c_char_p, [ctypes.c_int32]),
    "path": (ctypes.c_char_p, [_HANDLE]),
    "count": (None, [_HANDLE, ctypes.c_void_p]),
    "step_begin": (None, [_HANDLE, ctypes.c_uint64]),
    "step_end": (None, [_HANDLE]),
    "phase": (None, [_HANDLE, ctypes.c_int32]),
    "slow_begin": (None, [_HANDLE, ctypes.c_int32]),
    "slow_end": (None, [_HANDLE]),
    "metric_id": (ctypes.c_int32, [_HANDLE, ctypes.c_char_p]),
    "metric": (None, [_HANDLE, ctypes.c_int32, ctypes.c_double]),
    "operation_id": (ctypes.c_int32, [_HANDLE, ctypes.c_char_p]),
    "collective_enter": (None, [_HANDLE, ctypes.c_int32, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_uint32]),
    "collective_exit": (None, [_HANDLE, ctypes.c_uint64, ctypes.c_int32]),
    "wait": (None, [_HANDLE, ctypes.c_int32, ctypes.c_uint64]),
}


class Options(ctypes.Structure):
    """rw_guest_options"""
    _fields_ = [("size", ctypes.c_size_t), ("folder", ctypes.c_char_p)]


class Counters(ctypes.Structure):
    """rw_guest_counters"""
    _fields_ = [("size", ctypes.c_size_t), ("records", ctypes.c_uint64), ("dropped_busy", ctypes.c_uint64),
                ("dropped_misuse", ctypes.c_uint64)]


def _candidates():
    given = os.environ.get("RINGWARD_GUEST_LIBRARY")
    if given:
        return [given]
    here = pathlib.Path(__file__).resolve().parent
    return [str(here.parents[2] / NAME), NAME]


def load():
    """(library, "") or (None, why not). Calls keep the interpreter's lock: they take less time than giving it away."""
    reasons = []
    for path in _candidates():
        try:
            library = ctypes.PyDLL(path)
            for name, (result, arguments) in _FUNCTIONS.items():
                function = getattr(library, "rw_guest_" + name)
                function.restype, function.argtypes = result, arguments
        except (OSError, AttributeError) as error:
            reasons.append(str(error))
            continue
        if library.rw_guest_abi_version() < ABI_VERSION:
            reasons.append(f"{path}: too old")
            continue
        return library, ""
    return None, "; ".join(reasons)
