/*
 * options_json.h: a JSON object of options as values of their types.
 */
#ifndef KANON_OPTIONS_JSON_H
#define KANON_OPTIONS_JSON_H

#include "run/request.h"

/* May an object for the model name the option?  Those that it may, for a message. */
extern bool option_may_be_said(const Model *model, Option option);
extern char *options_known(const Model *model);

/* [OPTIONS] each; raises those that the model does not have, or in another form.  Not given: NULL. */
extern void options_of_json(const Model *model, Jsonb *options, Datum *values, bool *nulls, bool *given);

#endif
