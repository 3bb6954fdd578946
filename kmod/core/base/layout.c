// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where everything is in a row. See layout.h.
 */
#include "layout.h"
#include "smc.h"

/*
 * Columns and headers are stored as the host stores them. All supported RDMA
 * hosts are little-endian; a mixed cluster is refused at build time.
 */
static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "rows are little-endian");

/**
 * spindle_layout_row() - lay out the row of one member as another holds it
 * @lo: out
 * @view: a checked view
 * @writer: rank in the view of the row's owner
 * @holder: rank in the view of the member in whose memory the copy is; @writer for
 *	the own row, which has all rings of the subgroups it sends in, and the cells of its tables
 */
void spindle_layout_row(struct spindle_layout *lo, const struct spindle_view *view,
			u32 writer, u32 holder)
{
	u64 both = BIT_ULL(writer) | BIT_ULL(holder);
	u64 at = spindle_layout_block(view->num_subgroups);
	u32 i;

	lo->sst = ALIGN(at, SPINDLE_PAGE);
	lo->mb = SPINDLE_NO_OFFSET;
	at = lo->sst;
	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_view_subgroup *sg = &view->subgroup[i];

		lo->hdr[i] = SPINDLE_NO_OFFSET;
		lo->pay[i] = SPINDLE_NO_OFFSET;
		if ((sg->members & both) != both)
			continue;
		if (spindle_view_is_table(sg))
			at = spindle_layout_table(lo, i, at);
		else if (sg->senders & BIT_ULL(writer))
			at = spindle_layout_hdr(lo, i, at, sg->window);
	}
	at = ALIGN(at, SPINDLE_PAGE);
	for (i = 0; i < view->num_subgroups; i++) {
		if (lo->hdr[i] == SPINDLE_NO_OFFSET)
			continue;
		lo->pay[i] = at;
		at += view->subgroup[i].ring;
	}
	lo->size = at;
}
