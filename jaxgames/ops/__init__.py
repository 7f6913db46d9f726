"""Reductions over the edges of an arena: the only place that gathers and scatters.

Two layouts stand behind the same calls:

- an [`Arena`][jaxgames.Arena]: padded CSR, reduced by segment operations. Its shapes
  come from a few sizes, so that many games share one compilation, and it is what a
  user's own `jit` sees.
- a [`SlicedArena`][jaxgames.ops.SlicedArena]: rows sorted into slices of equal degree,
  each stored column-major, so that a reduction is a few element-wise operations on
  dense arrays. This is the restructuring of Wijs, Katoen and Bošnački (CAV 2014,
  doi:10.1007/978-3-319-08867-9_20), and on large graphs it is several times faster.

Values on edges are tuples of arrays, one array for each piece of the layout: made by
[`target`][jaxgames.ops.target] and [`source`][jaxgames.ops.source], combined by
[`edgewise`][jaxgames.ops.edgewise], consumed by the reductions.

[`Links`][jaxgames.ops.Links] are the same for rows and targets of any kind: the two
directions of a graph, or the choices of a decision process and where they lead.
"""

from typing import TYPE_CHECKING

from jaxgames import later

if TYPE_CHECKING:
    from jaxgames.ops._blocks import Block as Block
    from jaxgames.ops._blocks import block_any as block_any
    from jaxgames.ops._blocks import fetch as fetch
    from jaxgames.ops._blocks import part_of_block as part_of_block
    from jaxgames.ops._blocks import regular_block as regular_block
    from jaxgames.ops._blocks import row_blocks as row_blocks
    from jaxgames.ops._blocks import store as store
    from jaxgames.ops._dense import dense_links as dense_links
    from jaxgames.ops._dense import dense_rows as dense_rows
    from jaxgames.ops._edge_kernels import LEVELS as LEVELS
    from jaxgames.ops._edge_lists import edge_list as edge_list
    from jaxgames.ops._edge_lists import keep_inside as keep_inside
    from jaxgames.ops._edge_lists import lower_both as lower_both
    from jaxgames.ops._edge_lists import runs_kernels as runs_kernels
    from jaxgames.ops._edge_lists import spread_both as spread_both
    from jaxgames.ops._edge_lists import times as times
    from jaxgames.ops._edge_lists import touched as touched
    from jaxgames.ops._edge_lists import unchecked_edge_list as unchecked_edge_list
    from jaxgames.ops._fronts import advance_both as advance_both
    from jaxgames.ops._fronts import fronts as fronts
    from jaxgames.ops._fronts import widest as widest
    from jaxgames.ops._groups import add_into as add_into
    from jaxgames.ops._groups import differs_from_last as differs_from_last
    from jaxgames.ops._groups import expand as expand
    from jaxgames.ops._groups import first_equal as first_equal
    from jaxgames.ops._groups import number_groups as number_groups
    from jaxgames.ops._groups import row_ends as row_ends
    from jaxgames.ops._groups import search_rows as search_rows
    from jaxgames.ops._groups import sort_rows as sort_rows
    from jaxgames.ops._groups import sum_into as sum_into
    from jaxgames.ops._layouts import Edges as Edges
    from jaxgames.ops._layouts import Game as Game
    from jaxgames.ops._layouts import SlicedArena as SlicedArena
    from jaxgames.ops._layouts import by_slot as by_slot
    from jaxgames.ops._layouts import by_vertex as by_vertex
    from jaxgames.ops._layouts import edge_of as edge_of
    from jaxgames.ops._layouts import layout as layout
    from jaxgames.ops._layouts import move_of as move_of
    from jaxgames.ops._layouts import move_type as move_type
    from jaxgames.ops._layouts import num_cells as num_cells
    from jaxgames.ops._layouts import num_slots as num_slots
    from jaxgames.ops._layouts import num_vertices as num_vertices
    from jaxgames.ops._layouts import real as real
    from jaxgames.ops._link_lists import cells_of_rows as cells_of_rows
    from jaxgames.ops._link_lists import count_rows as count_rows
    from jaxgames.ops._link_lists import link_at as link_at
    from jaxgames.ops._link_lists import list_links as list_links
    from jaxgames.ops._link_lists import row_widths as row_widths
    from jaxgames.ops._links import EdgeList as EdgeList
    from jaxgames.ops._links import Links as Links
    from jaxgames.ops._links import PairLinks as PairLinks
    from jaxgames.ops._links import Pieces as Pieces
    from jaxgames.ops._links import SlicedLinks as SlicedLinks
    from jaxgames.ops._links import at_rows as at_rows
    from jaxgames.ops._links import at_targets as at_targets
    from jaxgames.ops._links import count_links as count_links
    from jaxgames.ops._links import keep_links as keep_links
    from jaxgames.ops._links import link_targets as link_targets
    from jaxgames.ops._links import links_all as links_all
    from jaxgames.ops._links import links_any as links_any
    from jaxgames.ops._links import links_layout as links_layout
    from jaxgames.ops._links import links_max as links_max
    from jaxgames.ops._links import links_min as links_min
    from jaxgames.ops._links import redirect as redirect
    from jaxgames.ops._lists import compact as compact
    from jaxgames.ops._lists import follow as follow
    from jaxgames.ops._lists import lower as lower
    from jaxgames.ops._lists import max_into as max_into
    from jaxgames.ops._lists import max_upwards as max_upwards
    from jaxgames.ops._lists import min_into as min_into
    from jaxgames.ops._lists import repeats as repeats
    from jaxgames.ops._lists import running_sum as running_sum
    from jaxgames.ops._lists import take as take
    from jaxgames.ops._own_parts import at_own as at_own
    from jaxgames.ops._own_parts import fits_part as fits_part
    from jaxgames.ops._own_parts import own_part as own_part
    from jaxgames.ops._own_parts import put_own as put_own
    from jaxgames.ops._parts import FEWEST_CELLS as FEWEST_CELLS
    from jaxgames.ops._parts import at as at
    from jaxgames.ops._parts import level_of as level_of
    from jaxgames.ops._parts import num_levels as num_levels
    from jaxgames.ops._parts import part as part
    from jaxgames.ops._parts import put as put
    from jaxgames.ops._places import deal as deal
    from jaxgames.ops._places import known_to_all as known_to_all
    from jaxgames.ops._places import programs_for as programs_for
    from jaxgames.ops._places import sent_to_all as sent_to_all
    from jaxgames.ops._prepare import edges_on_host as edges_on_host
    from jaxgames.ops._prepare import is_prepared as is_prepared
    from jaxgames.ops._prepare import narrowest as narrowest
    from jaxgames.ops._prepare import prepare as prepare
    from jaxgames.ops._reductions import SMALL as SMALL
    from jaxgames.ops._reductions import at_slot as at_slot
    from jaxgames.ops._reductions import count as count
    from jaxgames.ops._reductions import count_sources as count_sources
    from jaxgames.ops._reductions import edge_priority as edge_priority
    from jaxgames.ops._reductions import edge_weight as edge_weight
    from jaxgames.ops._reductions import edgewise as edgewise
    from jaxgames.ops._reductions import in_any as in_any
    from jaxgames.ops._reductions import in_max as in_max
    from jaxgames.ops._reductions import look_up as look_up
    from jaxgames.ops._reductions import out_all as out_all
    from jaxgames.ops._reductions import out_any as out_any
    from jaxgames.ops._reductions import out_argmin as out_argmin
    from jaxgames.ops._reductions import out_max as out_max
    from jaxgames.ops._reductions import out_min as out_min
    from jaxgames.ops._reductions import position as position
    from jaxgames.ops._reductions import slot_of_move as slot_of_move
    from jaxgames.ops._reductions import source as source
    from jaxgames.ops._reductions import target as target
    from jaxgames.ops._reductions import with_edge_weight as with_edge_weight
    from jaxgames.ops._rows import all_links as all_links
    from jaxgames.ops._rows import links as links
    from jaxgames.ops._rows import listed as listed
    from jaxgames.ops._rows import pairs as pairs
    from jaxgames.ops._rows import regular as regular
    from jaxgames.ops._rows import rows_where_laid_out as rows_where_laid_out
    from jaxgames.ops._rows import transpose as transpose
    from jaxgames.ops._shards import Spread as Spread
    from jaxgames.ops._shards import agreed as agreed
    from jaxgames.ops._shards import at_once as at_once
    from jaxgames.ops._shards import current_spread as current_spread
    from jaxgames.ops._shards import dealt as dealt
    from jaxgames.ops._shards import everywhere as everywhere
    from jaxgames.ops._shards import for_devices as for_devices
    from jaxgames.ops._shards import in_its_shares as in_its_shares
    from jaxgames.ops._shards import is_layout as is_layout
    from jaxgames.ops._shards import layouts_of as layouts_of
    from jaxgames.ops._shards import mesh_of as mesh_of
    from jaxgames.ops._shards import on_all as on_all
    from jaxgames.ops._shards import on_host as on_host
    from jaxgames.ops._shards import on_own_devices as on_own_devices
    from jaxgames.ops._shards import refuse_spread as refuse_spread
    from jaxgames.ops._shards import spread_over as spread_over
    from jaxgames.ops._shares import links_shared as links_shared
    from jaxgames.ops._sliced_device import accelerated as accelerated
    from jaxgames.ops._sliced_device import rows_of as rows_of
    from jaxgames.ops._sliced_device import sent as sent
    from jaxgames.ops._sliced_host import look_up_on_host as look_up_on_host
    from jaxgames.ops._sliced_host import slice_rows as slice_rows
    from jaxgames.ops._slices import SLICE_COST as SLICE_COST
    from jaxgames.ops._transfers import default_device as default_device
    from jaxgames.ops._transfers import joined as joined
    from jaxgames.ops._transfers import send as send
    from jaxgames.ops._transfers import to_host as to_host
    from jaxgames.ops._weights import links_sum as links_sum
    from jaxgames.ops._weights import on_links as on_links
    from jaxgames.ops._weights import picked as picked
    from jaxgames.tuning.ops import SLICE_FROM as SLICE_FROM

__getattr__, __dir__ = later.exports(__name__)
