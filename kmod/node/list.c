// SPDX-License-Identifier: GPL-2.0-only
/*
 * List: the nodes of a network namespace. See node.h.
 *
 * Context: the namespace's lock, in the whole file.
 */
#include "node.h"

/**
 * spindle_node_next() - walk the nodes of a network namespace
 * @sn: the namespace
 * @id: the id to begin with
 *
 * Context: the namespace's lock.
 * Return: the node with the lowest id from @id up, or NULL
 */
struct spindle_node *spindle_node_next(const struct spindle_net *sn, u32 id)
{
	struct spindle_node *node;

	lockdep_assert_held(&sn->lock);
	list_for_each_entry(node, &sn->nodes, list)
		if (node->id >= id)
			return node;
	return NULL;
}

/**
 * spindle_node_find() - find a node
 * @sn: network namespace
 * @id: node id
 *
 * Context: the namespace's lock.
 * Return: the node, or NULL
 */
struct spindle_node *spindle_node_find(const struct spindle_net *sn, u32 id)
{
	struct spindle_node *node = spindle_node_next(sn, id);

	return node && node->id == id ? node : NULL;
}

/**
 * spindle_nodes_count() - count the nodes of a network namespace
 * @sn: the namespace
 *
 * Context: the namespace's lock.
 * Return: how many there are
 */
u32 spindle_nodes_count(const struct spindle_net *sn)
{
	const struct list_head *at;
	u32 n = 0;

	lockdep_assert_held(&sn->lock);
	list_for_each(at, &sn->nodes)
		n++;
	return n;
}

/**
 * spindle_nodes_add() - add a node to the list of its namespace, in the order of ids
 * @node: the node
 *
 * Context: the namespace's lock.
 */
void spindle_nodes_add(struct spindle_node *node)
{
	struct spindle_node *at;

	lockdep_assert_held(&node->sn->lock);
	list_for_each_entry(at, &node->sn->nodes, list)
		if (at->id > node->id)
			break;
	list_add_tail(&node->list, &at->list);
}
