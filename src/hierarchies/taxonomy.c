/*
 * taxonomy.c: the tree that a hierarchy makes above a column's values, as the
 * measures of t-closeness want it: up to one node.
 */
#include "compat.h"
#include "hierarchies/hierarchy.h"
#include "core/privacy/rules.h"

KanonTaxonomy *
taxonomy_read(const HierarchyChoice *choice, const RowTypes *types, int column, Border *border)
{
	const Source *source = types->source;
	uint32 values = dictionary_size(source->qis[column].dictionary);
	KanonTaxonomy *taxonomy = palloc0(sizeof(KanonTaxonomy));
	Hierarchy hierarchy;
	uint32 **parent;
	uint32 *nodes;
	int top;

	hierarchy_open(&hierarchy, choice, source, column);
	hierarchy_read(&hierarchy, types, border);
	top = hierarchy.nlevels;
	parent = palloc(sizeof(uint32 *) * (top + 1));
	nodes = palloc(sizeof(uint32) * (top + 1));
	for (int h = 0; h <= top; h++)
	{
		uint32 below = h == 0 ? values : nodes[h - 1];

		nodes[h] = h < top ? dictionary_size(hierarchy.dictionary[h]) : 1;
		parent[h] = border_palloc(border, sizeof(uint32) * (Size) below);
		memset(parent[h], 0, sizeof(uint32) * (Size) below);
		for (uint32 code = 0; h < top && code < values; code++)
			parent[h][h == 0 ? code : hierarchy.node[h - 1][code]] = hierarchy.node[h][code];
	}
	taxonomy->height = top + 1;
	taxonomy->nodes = nodes;
	taxonomy->parent = (const uint32 *const *) parent;
	return taxonomy;
}
