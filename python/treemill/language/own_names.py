"""Names of what treemill adds to expressions, which mean it even if a branch is called by the
language's word for it: translations of `Entry$` and the like, and columns of tables. Pure.
"""

from __future__ import annotations

__all__ = ["ENTRIES", "ENTRY", "LOCAL_ENTRY", "TREE_WEIGHT"]

ENTRY = "number_of_the_entry_"
"""The number of an entry in the dataset: `Entry$`."""
LOCAL_ENTRY = "number_of_the_entry_in_its_file_"
"""The number of an entry in its file: `LocalEntry$`."""
ENTRIES = "number_of_entries_"
"""`Entries$`, to which a drawing gives its value."""
TREE_WEIGHT = "weight_of_the_tree_"
"""What TTree::SetWeight has set for an entry's tree."""
