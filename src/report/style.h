/*
 * style.h: the report's style sheet.
 */
#ifndef KANON_STYLE_H
#define KANON_STYLE_H

extern const char *const report_style;

#endif
