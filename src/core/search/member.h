/*
 * member.h: what a member of KanonEnv.pricing does beside the caller; memory is that of the common
 * block, as open gave it, and of prices no more than that.
 */
#ifndef KANON_MEMBER_H
#define KANON_MEMBER_H

#include "kanon.h"

typedef struct SearchMember SearchMember;

extern SearchMember *search_member_open(KanonEnv *env, void *block, int number);
extern void search_member_work(SearchMember *member);
extern void search_member_close(SearchMember *member);

#endif
