#include "freeform_work.h"
KanonStatus
freeform_mip(FreeformWork *work, KanonFreeformGraph *graph)
{
	(void) work;
	(void) graph;
	return KANON_UNAVAILABLE;
}
