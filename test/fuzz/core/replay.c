/*
 * replay.c: a fuzz target without a fuzzer, for any compiler: replay RUNS SEED FILE… runs the
 * files, then so many inputs by chance: bytes, or one of the files with some of them changed.
 * An input that breaks something is written to replay-failed.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define LONGEST 512

extern int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* (of the sanitizers, which are to see abort(), too) */
extern void __sanitizer_set_death_callback(void (*callback)(void));
extern const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "handle_abort=1";
}

static uint8_t input[LONGEST];
static size_t length;

static void
keep(void)
{
	FILE *file = fopen("replay-failed", "wb");

	if (file == NULL)
		return;
	fwrite(input, 1, length, file);
	fclose(file);
}

/* The target reads a block as long as the input: the sanitizer sees each byte that is read after it. */
static void
run(void)
{
	uint8_t *block = malloc(length > 0 ? length : 1);

	memcpy(block, input, length);
	LLVMFuzzerTestOneInput(block, length);
	free(block);
}

static void
read_file(const char *path)
{
	FILE *file = fopen(path, "rb");

	if (file == NULL)
		fuzz_fail("no file %s", path);
	length = fread(input, 1, LONGEST, file);
	fclose(file);
}

int
main(int argc, char **argv)
{
	int runs = argc > 3 ? atoi(argv[1]) : 0;
	uint64_t random = argc > 3 ? strtoull(argv[2], NULL, 10) : 0;

	__sanitizer_set_death_callback(keep);
	for (int file = 3; file < argc; file++)
	{
		read_file(argv[file]);
		run();
	}
	for (int i = 0; i < runs; i++)
	{
		uint32_t changes;

		if (random_below(&random, 2) == 0)
		{
			length = changes = random_below(&random, 180) + 1;
			memset(input, 0, length);
		}
		else
		{
			read_file(argv[3 + random_below(&random, (uint32_t) argc - 3)]);
			changes = length > 0 ? 1 + random_below(&random, 8) : 0;
		}
		for (uint32_t j = 0; j < changes; j++)
			input[changes == length ? j : random_below(&random, (uint32_t) length)] =
				(uint8_t) random_below(&random, 256);
		run();
	}
	printf("[  PASSED  ] 1 test(s).\n");
	return 0;
}
