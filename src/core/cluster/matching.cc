/*
 * matching.cc: matchings by LEMON's MaxWeightedMatching, an implementation of
 * Edmonds' blossom algorithm in O(nm log n).
 *
 * LEMON runs in a thread, for two reasons.  It takes blossoms apart by recursion, as
 * deep as they are nested: the thread's stack is made for that, the host's is not.
 * And it knows no interrupt: the host is polled here meanwhile, by the thread that
 * it knows.  To stop, the weights, which LEMON reads all the time, throw an
 * exception; no exception gets out of the thread, and all of LEMON is freed there.
 * The thread touches nothing of the host and takes no signals.
 */
#include "cluster/matching.h"

#ifdef HAVE_LEMON
#include <lemon/matching.h>
#include <lemon/smart_graph.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <vector>

#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace
{

typedef lemon::SmartGraph Graph;

/* Stack per node: half of them nested in one another, at most, with room to spare. */
const size_t stack_bytes = 1024;
const long poll_nanoseconds = 10 * 1000 * 1000;

struct Stopped
{
};

/* The state that the two threads share. */
struct Job
{
	const MatchGraph *graph;
	std::atomic<bool> stop;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	bool done; /* under the mutex */
	KanonStatus status;
};

/*
 * A node that must be covered is worth more than all edges cost, so the matching
 * of most weight covers as many of these as it can.
 */
class Weights
{
  public:
	typedef Graph::Edge Key;
	typedef int64_t Value;

	explicit Weights(const Job *job)
		: job(job), worth(((int64_t) job->graph->nnodes + 1) << 31), weight(job->graph->nedges)
	{
		for (size_t i = 0; i < job->graph->nedges; i++)
		{
			const MatchEdge &edge = job->graph->edge[i];

			weight[i] = worth_of(edge.a) + worth_of(edge.b) - (int64_t) edge.cost;
		}
	}

	Value operator[](const Key &key) const
	{
		if (job->stop.load(std::memory_order_relaxed))
			throw Stopped();
		return weight[(size_t) Graph::id(key)];
	}

	Value worth_of(uint32_t node) const
	{
		return job->graph->must[node] ? worth : 0;
	}

  private:
	const Job *job;
	Value worth;
	std::vector<Value> weight; /* by edge: read all the time */
};

typedef lemon::MaxWeightedMatching<Graph, Weights> Matching;

/*
 * Where nodes stand, and what they share.  LEMON tells a blossom after those within it, and
 * their nodes in one order: of one that is in no other all nodes get their places, of the
 * others the first is looked up.
 */
void
tell_blossoms(const Matching &matching, const MatchGraph *graph)
{
	uint32_t places = 0;

	std::fill_n(graph->place, graph->nnodes, UINT32_MAX);
	std::fill_n(graph->shared, graph->nnodes, 0);
	for (int b = matching.blossomNum(); b-- > 0;)
	{
		Matching::BlossomIt node(matching, b);
		uint32_t first = (uint32_t) Graph::id(node);

		if (graph->place[first] == UINT32_MAX)
			for (; node != lemon::INVALID; ++node)
				graph->place[Graph::id(node)] = places++;
		/* from the first of its nodes on, until the last */
		graph->shared[graph->place[first]] += matching.blossomValue(b);
		graph->shared[graph->place[first] + (uint32_t) matching.blossomSize(b) - 1] -=
			matching.blossomValue(b);
	}
	for (uint32_t i = 0; i < graph->nnodes; i++)
		if (graph->place[i] == UINT32_MAX)
			graph->place[i] = places++;
	for (uint32_t x = 1; x < graph->nnodes; x++)
		graph->shared[x] += graph->shared[x - 1];
}

void
solve(const Job *job)
{
	const MatchGraph *graph = job->graph;
	Graph g;

	g.reserveNode((int) graph->nnodes);
	g.reserveEdge((int) graph->nedges);
	for (uint32_t i = 0; i < graph->nnodes; i++)
		g.addNode();
	for (size_t i = 0; i < graph->nedges; i++)
		g.addEdge(g.nodeFromId((int) graph->edge[i].a), g.nodeFromId((int) graph->edge[i].b));

	Weights weights(job);
	Matching matching(g, weights);

	matching.run();
	for (uint32_t i = 0; i < graph->nnodes; i++)
	{
		Graph::Node node = g.nodeFromId((int) i);
		Graph::Arc arc = matching.matching(node);

		graph->used[i] = arc == lemon::INVALID ? SIZE_MAX : (size_t) Graph::id(Graph::Edge(arc));
		graph->price[i] = Matching::dualScale * weights.worth_of(i) - matching.nodeValue(node);
	}
	tell_blossoms(matching, graph);
}

void *
run(void *arg)
{
	Job *job = static_cast<Job *>(arg);
	KanonStatus status = KANON_OK;

	try
	{
		solve(job);
	}
	catch (const Stopped &)
	{
		status = KANON_CANCELLED;
	}
	catch (const std::bad_alloc &)
	{
		status = KANON_NO_MEMORY;
	}
	catch (...)
	{
		status = KANON_BROKEN;
	}
	pthread_mutex_lock(&job->mutex);
	job->status = status;
	job->done = true;
	pthread_cond_signal(&job->changed);
	pthread_mutex_unlock(&job->mutex);
	return NULL;
}

/* Starts the thread; it inherits that all signals are blocked. */
bool
start(Job *job, pthread_t *thread)
{
	size_t stack = ((size_t) job->graph->nnodes * stack_bytes + ((size_t) 4 << 20)) & ~(size_t) 4095;
	pthread_attr_t attributes;
	sigset_t all, before;
	bool started;

	if (pthread_attr_init(&attributes) != 0)
		return false;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_attr_setstacksize(&attributes, stack) == 0 &&
			  pthread_create(thread, &attributes, run, job) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return started;
}

/* Waits for a while: true when the thread is done. */
bool
wait(Job *job)
{
	struct timespec until;
	bool done;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += poll_nanoseconds;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&job->mutex);
	if (!job->done)
		pthread_cond_timedwait(&job->changed, &job->mutex, &until);
	done = job->done;
	pthread_mutex_unlock(&job->mutex);
	return done;
}

} /* namespace */

KanonStatus
matching_solve(KanonEnv *env, const char *phase, double deadline, const MatchGraph *graph)
{
	Job job;
	pthread_t thread;
	KanonStatus reason = KANON_OK;
	KanonProgress progress = {phase, 0, -1, false, 0, 0};
	double from = env->now(env->arg);

	static_assert(Matching::dualScale == 4, "prices are in quarters");
	job.graph = graph;
	job.stop = false;
	job.done = false;
	job.status = KANON_NO_MEMORY;
	pthread_mutex_init(&job.mutex, NULL);
	pthread_cond_init(&job.changed, NULL);
	if (start(&job, &thread))
	{
		while (!wait(&job))
		{
			/* how far it is nobody knows; how much of its time is over is known */
			if (deadline - from > 0 && deadline - from < 1e9)
				progress.share = std::min((env->now(env->arg) - from) / (deadline - from), 1.0);
			if (reason == KANON_OK && env->poll(env->arg, &progress))
				reason = KANON_CANCELLED;
			else if (reason == KANON_OK && env->now(env->arg) > deadline)
				reason = KANON_TOO_LARGE;
			job.stop = reason != KANON_OK;
		}
		pthread_join(thread, NULL);
	}
	pthread_cond_destroy(&job.changed);
	pthread_mutex_destroy(&job.mutex);
	if (job.status == KANON_NO_MEMORY)
		env->refused = (size_t) matching_memory(graph->nnodes, (double) graph->nedges);
	return reason != KANON_OK ? reason : job.status;
}

#else

KanonStatus
matching_solve(KanonEnv *env, const char *phase, double deadline, const MatchGraph *graph)
{
	(void) env;
	(void) phase;
	(void) deadline;
	(void) graph;
	return KANON_UNAVAILABLE;
}

#endif

/* Measured with LEMON 1.3.1; its stack in the worst case is among it. */
double
matching_memory(double nnodes, double nedges)
{
	return 600 * nnodes + 108 * nedges;
}
