/*
 * number.h: fmax and fmin where nothing is a NaN: those of the C library are calls.
 */
#ifndef KANON_NUMBER_H
#define KANON_NUMBER_H

static inline double
kanon_max(double a, double b)
{
	return a > b ? a : b;
}

static inline double
kanon_min(double a, double b)
{
	return a < b ? a : b;
}

#endif
