"""Shows firn's tensors in gdb by type and shape, as in `x = f32[3, 4]`: `source firn_gdb.py`.

It reads memory, with the table firn_debug_layout of tensor.cpp: it works in core files, and needs no
debug symbols of the library. A size that is no number is shown as `?`."""
import gdb


def word_at(address):
    raw = gdb.selected_inferior().read_memory(address, 8)
    return int.from_bytes(bytes(raw), "little")


def at(address, kind):
    return gdb.Value(address).cast(gdb.lookup_type(kind).pointer()).dereference()


def text_of(slot):
    layout = int(gdb.parse_and_eval("(unsigned long)&firn_debug_layout"))
    node_of_slot, dtype_of_node, shape_of_node = (word_at(layout + 8 * k) for k in range(3))
    node = word_at(slot + node_of_slot)
    if node == 0:
        return "no value yet"
    dtype = str(at(node + dtype_of_node, "firn::DType")["type"]).split("::")[-1].lower()
    begin, end = word_at(node + shape_of_node), word_at(node + shape_of_node + 8)
    sizes = []
    for address in range(begin, end, gdb.lookup_type("firn::Size").sizeof):
        size = at(address, "firn::Size")
        known = int(size["terms_"]["pointer_"]) == 0
        sizes.append(str(int(size["constant_"])) if known else "?")
    return dtype + ("[" + ", ".join(sizes) + "]" if sizes else "")


class TensorPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        try:
            return text_of(int(self.value["slot_"]["pointer_"]))
        except gdb.error as error:
            return "firn::Tensor (%s)" % error


def printer_of(value):
    kind = value.type.strip_typedefs()
    return TensorPrinter(value) if kind.name == "firn::Tensor" else None


gdb.pretty_printers.append(printer_of)
