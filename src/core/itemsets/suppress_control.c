/*
 * suppress_control.c: rho-uncertainty by suppression alone (SuppressControl) of Cao,
 * Karras, Raïssi and Tan, "rho-uncertainty: Inference-Proof Transaction
 * Anonymization", PVLDB 3, 2010.  The steps are in item_control.c.
 */
#include "itemsets/transactions.h"

KanonStatus
kanon_recode_suppress_control(const KanonTransactions *problem, KanonRecoding *recoding, KanonReport *report)
{
	KanonControl control;
	bool rules;
	KanonStatus status = kanon_control_open(&control, problem, report);

	if (status == KANON_OK)
		status = kanon_control_look(&control, KANON_NOTHING, NULL, 0);
	kanon_pace_part(&control.cut.pace, 0, 1, 0, 2);
	if (status == KANON_OK)
		status = kanon_control_hit(&control, &rules);
	if (status == KANON_OK)
	{
		kanon_control_apply(&control);
		status = kanon_control_restore(&control);
	}
	if (status == KANON_OK)
		status = kanon_control_recoding(&control, recoding);
	kanon_control_close(&control);
	return status;
}
