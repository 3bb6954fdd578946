// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model of durable messages and of a total restart, for Spin. The protocol is that of
 * Documentation/design/durability.rst, which says what the model leaves out. "run" checks the
 * model, and breaks it.
 *
 *	N	nodes, 3 to 5
 *	FIRST	members of the first view, the lowest nodes
 *	VIEWS	changes of the view while members run
 *	TO_1	members after the first change, as a mask, if only one course of changes is allowed.
 *		TO_2 and TO_3 are those after the second and the third one.
 *	RESTARTS attempts to restart that get as far as a proposal
 *	AT_1	nodes of the first attempt, as a mask, if only one course of attempts is allowed. AT_2
 *		and AT_3 are those of the second and of the third one.
 *	MESSAGES messages, and LOGGING records, of all views together
 *	CRASHES	nodes that crash, one at a time
 *	TOTALS	crashes of all nodes at once
 *	LEAVES	members that leave in good order
 *	DAMAGES	logs that are found to be corrupt below their end
 *	MAJORITY "ack majority" in place of "ack all"
 *	ALL_COUNT "ack all" without LOGGING records: all members count from the beginning of a view.
 *		Leavers are as nodes that crash. A joiner does not know the range of its first view.
 *	RANGE_SENT with ALL_COUNT: a member sends a joiner the range, and no record is without one
 *	HALF	half of the members of each view in the range is enough to establish a view
 *	COPIES	min-copies
 *	BUG_x	a rule that is broken, see run
 *	SEEK_x	an assertion that has to fail, because its state can be reached
 *
 * view.pml has the change of a view in steps. Here the change is one step, which all members of
 * the next view take, and which needs a majority of the view before. A sync is one step, too.
 *
 * A log is a prefix of a path in the tree of views: the view of its last message, and a length.
 * Two logs are equal as far as their paths are.
 *
 * Readers see each column as soon as its value is on disk. A reader that sees the value later
 * shows a smaller durable position, and the largest one that any member can show is checked.
 */
#ifndef N
#define N 3
#endif
#ifndef FIRST
#define FIRST N
#endif
#ifndef VIEWS
#define VIEWS 1
#endif
#ifndef RESTARTS
#define RESTARTS 1
#endif
#ifndef MESSAGES
#define MESSAGES 2
#endif
#ifndef CRASHES
#define CRASHES 0
#endif
#ifndef TOTALS
#define TOTALS 1
#endif
#ifndef LEAVES
#define LEAVES 0
#endif
#ifndef DAMAGES
#define DAMAGES 0
#endif
#ifndef COPIES
#define COPIES 2
#endif

#if defined(MAJORITY) || defined(ALL_COUNT)
#define NO_LOGGING
#endif

#define ALL	((1 << N) - 1)
#define BIT(i)	(1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define WEIGHT(m) (((m) & 1) + (((m) >> 1) & 1) + (((m) >> 2) & 1) + (((m) >> 3) & 1) + \
		   (((m) >> 4) & 1))

/* Views have numbers in the order in which they come up. Eight is enough. */
#define ROOM	(1 + VIEWS + RESTARTS)
#define LOWEST(m) (((m) & 1) -> 0 : (((m) & 2) -> 1 : (((m) & 4) -> 2 : (((m) & 8) -> 3 : \
		  (((m) & 16) -> 4 : (((m) & 32) -> 5 : (((m) & 64) -> 6 : 7)))))))
#define HIGHEST(m) (((m) & 128) -> 7 : (((m) & 64) -> 6 : (((m) & 32) -> 5 : (((m) & 16) -> 4 : \
		   (((m) & 8) -> 3 : (((m) & 4) -> 2 : (((m) & 2) -> 1 : 0)))))))

/* A member that never sent its LOGGING record. */
#define NEVER	15

/* The tree of views. A view that a restart proposes is in it before it is chosen. */
byte members[ROOM];
byte parent[ROOM];
byte path[ROOM];	/* the view and all before it */
byte base[ROOM];	/* messages of the views before */
byte top[ROOM];		/* messages with those of the view */
byte since[ROOM];	/* the last established view that is known when the view begins */
#ifdef ALL_COUNT
byte parted[ROOM];	/* members that have said that they leave */
#else
byte parted[ROOM];	/* members of the view before that left in good order */
#endif
byte era[ROOM];
byte origin[ROOM];	/* the view of the first attempt that has proposed the same restart, or 0 */
byte origins[ROOM];	/* of the view and of all before it */
byte counted[ROOM * N];	/* the length of log from which the member counts, or NEVER */
byte views = 1;
byte ended;		/* views that another one has followed */
byte chosen;		/* views of restarts that stand */
byte passed;		/* views of them that a later era has repeated, or has left out */
byte known;		/* views that a running member of theirs knows to be established */

/* On the disk of each node. */
byte record[N];		/* view of the newest record */
byte epoch[N];		/* view of the last message in the log */
byte length[N];
byte promised[N];	/* an era, or 0 */
byte accepted[N];	/* an era, or 0 */
byte noted;		/* nodes whose record says that its view is established */
byte leaving;		/* nodes whose record says that they leave its view */
byte damaged;		/* nodes whose last message cannot be read */
#ifdef BUG_STATES
byte says;		/* nodes whose state is LOGGING */
#endif
#ifdef ALL_COUNT
byte lacks[N];		/* first view of the record if the range is not known, or 0 */
#endif

/* In the memory of each node. */
byte view[N];		/* number of the view + 1, or 0 if the node does not run */
byte from[N];		/* the first message in memory, or 0 if the log needs none */
#ifdef ALL_COUNT
byte blind[N];		/* first view of a joiner that does not know the range yet, or 0 */
#endif

/* Attempts to restart. */
byte proposal[RESTARTS + 1];
byte voters[RESTARTS + 1];	/* nodes that reported, and promised no later attempt */
byte range[RESTARTS + 1];	/* views that need a majority, or 0 if the attempt is closed */
byte acks[RESTARTS + 1];
#ifdef BUG_FORGET_PROMISE
byte reported[RESTARTS + 1];
#endif
byte attempts;

/* What the world knows: the longest prefix that was ever shown as durable. */
byte shown_epoch;
byte shown;

byte sent;
byte changes;
byte crashes = CRASHES;
byte totals = TOTALS;
byte leaves = LEAVES;
byte damages = DAMAGES;

/* Of one step. */
hidden byte a, b, c, v, w, kid, both, common, durable, copies, good, last, first, value, rest;
hidden byte elect;
#ifdef ALL_COUNT
hidden byte listed;
#endif
hidden byte up, got[N];

#define UP(j)		(view[j] != 0)
#define IN(j, v)	(view[j] == (v) + 1)

/* Nodes as a mask, as far as P(node) holds. */
#if N == 3
#define EACH(P)		(P(0) | (P(1) << 1) | (P(2) << 2))
#elif N == 4
#define EACH(P)		(P(0) | (P(1) << 1) | (P(2) << 2) | (P(3) << 3))
#else
#define EACH(P)		(P(0) | (P(1) << 1) | (P(2) << 2) | (P(3) << 3) | (P(4) << 4))
#endif
#define RUNS		EACH(UP)
#if N == 3
#define RUNS_IN(v)	(IN(0, v) | (IN(1, v) << 1) | (IN(2, v) << 2))
#elif N == 4
#define RUNS_IN(v)	(IN(0, v) | (IN(1, v) << 1) | (IN(2, v) << 2) | (IN(3, v) << 3))
#else
#define RUNS_IN(v)	(IN(0, v) | (IN(1, v) << 1) | (IN(2, v) << 2) | (IN(3, v) << 3) | \
			 (IN(4, v) << 4))
#endif

/* ---- logs --------------------------------------------------------------------- */

/*
 * What a log of view e and length l has in common with the path to view x: into common. A restart
 * may have a smaller base than a view before, so all views behind the last common one count.
 */
inline compare(e, l, x)
{
	common = l;
	both = path[e] ^ path[x];
	if
	:: both ->
		for (kid : 1 .. ROOM - 1) {
			common = (HAS(both, kid) && base[kid] < common -> base[kid] : common)
		}
	:: else
	fi
}

/* The view of message l - 1 on the path to view x: into c. */
inline locate(l, x)
{
	c = x;
	do
	:: c != 0 && base[c] >= l -> c = parent[c]
	:: else -> break
	od
}

/* The log as it would be read: what is behind a corrupt message is not readable. */
#define READABLE(j)	(length[j] - HAS(damaged, j))

/* What each member of a view has of its path: into got. */
inline survey(x)
{
	for (a : 0 .. N - 1) {
		got[a] = 0;
		if
		:: HAS(members[x], a) ->
			compare(epoch[a], READABLE(a), x);
			got[a] = common
		:: else
		fi
	}
}

/* ---- durable ------------------------------------------------------------------ */

/* Must a message wait for the log of member j? */
#ifdef BUG_JOINER_FREE
#define WAITED(j, x, b) (counted[(x) * N + (j)] <= (b) && \
			 (HAS(members[parent[x]], j) || got[j] >= base[x]))
#else
#define WAITED(j, x, b) (counted[(x) * N + (j)] <= (b))
#endif

/* The rule of acknowledgement in a view: into durable and copies. */
inline acknowledge(x)
{
	survey(x);
	durable = 0;
	for (b : 1 .. top[x]) {
		copies = 0;
		good = true;
		for (a : 0 .. N - 1) {
			if
			:: HAS(members[x], a) && got[a] >= b && WAITED(a, x, b) -> copies++
#ifndef MAJORITY
			:: HAS(members[x], a) && got[a] < b && WAITED(a, x, b) -> good = false
#endif
			:: else
			fi
		}
#ifdef MAJORITY
		good = 2 * copies > WEIGHT(members[x]);
#endif
		if
#ifdef BUG_COPIES
		:: good && copies > 0 -> durable = b
#else
		:: good && copies >= COPIES -> durable = b
#endif
		:: else
		fi
	}
}

/*
 * Have these nodes a majority of each of these views, or half of it? Into good. The last one is not
 * left yet. With ALL_COUNT a leaver is a member as any other.
 */
inline quorums(nodes, set, half)
{
	good = true;
	rest = set;
	do
	:: rest == 0 -> break
	:: else ->
		c = LOWEST(rest);
		rest = rest & ~BIT(c);
		elect = members[c];
#ifndef ALL_COUNT
		if
		:: rest != 0 -> elect = elect & ~parted[LOWEST(rest)]
		:: else
		fi;
#endif
		if
		:: 2 * WEIGHT((nodes) & elect) + half <= WEIGHT(elect) -> good = false
		:: else
		fi
	od
}

/* A restart needs majorities. To establish a view, half can be enough. */
#ifdef BUG_HALF_RESTARTS
#define majorities(nodes, set)	quorums(nodes, set, 1)
#else
#define majorities(nodes, set)	quorums(nodes, set, 0)
#endif
#ifdef HALF
#define enough(nodes, set)	quorums(nodes, set, 1)
#else
#define enough(nodes, set)	quorums(nodes, set, 0)
#endif

#ifdef BUG_ONE_BACK
#define BETWEEN(e, x)	(((path[x] & ~path[e]) | BIT(e)) & (BIT(x) | BIT(parent[x])))
#else
#define BETWEEN(e, x)	((path[x] & ~path[e]) | BIT(e))
#endif

#ifdef BUG_OWN_RECORD
#define HOLDS(j)	HAS(path[record[j]], c)
#endif

/* Does a member that runs know the range? */
#ifdef ALL_COUNT
#define SIGHTED(j)	(!blind[j])
#endif

/*
 * Is a view established, given what acknowledge() has found? Into good. The records that count are
 * those of the view itself, or of a later one, for the majority of each view in the range.
 */
inline establish(x)
{
	up = 0;
	for (a : 0 .. N - 1) {
		if
#ifdef BUG_SYNC
		:: HAS(members[x], a) && (HAS(path[record[a]], x) || IN(a, x)) -> up = up | BIT(a)
#else
		:: HAS(members[x], a) && HAS(path[record[a]], x) -> up = up | BIT(a)
#endif
		:: else
		fi
	}
#ifdef BUG_OWN_RECORD
	enough(EACH(HOLDS), BETWEEN(since[x], x));
#else
	enough(up, BETWEEN(since[x], x));
#endif
#ifdef ALL_COUNT
	good = good && (RUNS_IN(x) & EACH(SIGHTED));
#endif
#ifndef BUG_BASE
	good = good && durable >= base[x];
#endif
}

/* A prefix is shown as durable. */
inline reveal(x)
{
	/* L5: there is one sequence of durable messages. */
	compare(shown_epoch, shown, x);
	assert(common == shown || common >= durable);
	if
	:: durable > shown ->
		copies = 0;
		for (a : 0 .. N - 1) {
			compare(epoch[a], READABLE(a), x);
			if
			:: common >= durable -> copies++
			:: else
			fi
		}
		/* As many copies as the administrator asks for. */
		assert(copies >= COPIES);
		locate(durable, x);
		shown_epoch = c;
		shown = durable;
		/* L5: each restart that stands has all of them. */
		for (b : 0 .. ROOM - 1) {
			if
			:: HAS(chosen & ~passed, b) && !HAS(path[x], b) ->
				compare(shown_epoch, shown, b);
				assert(common == shown)
			:: else
			fi
		}
	:: else
	fi
}

/* Assertions that have to fail, because what they deny does happen. */
#define RESTARTED(x)	(HAS(chosen, x) && HAS(known, x))
inline seek(x)
{
#ifdef SEEK_RESTART
	assert(!(RESTARTED(x) && shown > 0 && durable > base[x]));
#endif
#ifdef SEEK_AGAIN
	assert(!(RESTARTED(x) && (chosen & path[x] & ~BIT(x)) && durable > base[x]));
#endif
#ifdef SEEK_JOIN
	for (a : 0 .. N - 1) {
		assert(!(HAS(known, x) && HAS(members[x], a) && counted[x * N + a] &&
			 counted[x * N + a] <= durable))
	}
#endif
#ifdef SEEK_LEAVE
#ifdef ALL_COUNT
	assert(!(HAS(known, x) && (parted[parent[x]] & ~members[x]) && durable > base[x]));
#else
	assert(!(HAS(known, x) && parted[x] && durable > base[x]));
#endif
#endif
#ifdef SEEK_LATER
	/* The restart is from a view that was not established. */
	assert(!(RESTARTED(x) && since[x] != parent[x] && durable > base[x]));
#endif
#ifdef SEEK_LOSS
	/* The members of a restart go on without messages of the view before, which were stable. */
	assert(!(RESTARTED(x) && base[x] < top[parent[x]]));
#endif
#ifdef SEEK_LATE
	/* A joiner has caught up to the base, and messages of the view become durable. */
	for (a : 0 .. N - 1) {
		assert(!(HAS(known, x) && HAS(members[x], a) && !HAS(members[parent[x]], a) &&
			 base[x] > 0 && durable > base[x]))
	}
#endif
#ifdef SEEK_BLIND
	/* All nodes run in one view, and none of them knows the range. */
	assert(!(RUNS_IN(x) == ALL && !HAS(known, x) && !EACH(SIGHTED)));
#endif
#ifdef SEEK_SPLIT
	for (b : 0 .. ROOM - 1) {
		if
		:: HAS(chosen, x) && !HAS(path[x], b) && !HAS(path[b], x) ->
			copies = 0;
			for (a : 0 .. N - 1) {
				copies = copies + IN(a, b)
			}
			assert(2 * copies <= WEIGHT(members[b]))
		:: else
		fi
	}
#endif
	skip
}

/* All that members see and show after a step. */
inline look()
{
	for (w : 0 .. ROOM - 1) {
		if
		:: RUNS_IN(w) == 0 -> known = known & ~BIT(w)
		:: else ->
			acknowledge(w);
			if
			:: !HAS(known, w) ->
				establish(w);
				if
				:: good ->
					known = known | BIT(w);
#ifndef BUG_BASE
					/* L3: a restart shows no less than was shown before. */
					assert(era[w] == era[shown_epoch] || durable >= shown);
#endif
					skip
				:: else
				fi
			:: else
			fi;
#ifdef SEEK
			seek(w);
#endif
			if
			:: HAS(known, w) -> reveal(w)
#ifdef BUG_UNTIED
			:: else -> reveal(w)
#else
#ifdef BUG_CAP
			:: else ->
				c = LOWEST(path[w] & ~path[since[w]]);
				durable = (durable > base[c] -> base[c] : durable);
				reveal(w)
#else
#ifdef BUG_FRESH
			:: else ->
				/* L3 */
				assert(era[w] == era[shown_epoch] || !durable || durable >= shown)
#else
			:: else
#endif
#endif
#endif
			fi
		fi
	}
}

/* ---- views -------------------------------------------------------------------- */

/*
 * Nodes that have been in the same views are alike. A view takes the lowest of those that are
 * alike, because all else is the same with other names: into good.
 */
inline symmetric(set)
{
	good = true;
	for (a : 1 .. N - 1) {
		for (b : 0 .. a - 1) {
			if
			:: HAS(set, a) && !HAS(set, b) ->
				kid = 1;
				for (c : 0 .. views - 1) {
					if
					:: HAS(members[c], a) != HAS(members[c], b) -> kid = 0
					:: else
					fi
				}
				if
				:: kid -> good = false
				:: else
				fi
			:: else
			fi
		}
	}
}

/* The memory keeps what the log has not got. */
inline forget(j)
{
	if
	:: from[j] <= READABLE(j) -> from[j] = 0
	:: else
	fi
}

/* R9: a promise binds, whether the node has accepted the proposal or not. */
#ifdef BUG_TURN
#define MAY_ENTER(j, x)	true
#else
#if defined(BUG_TURN_PROMISE) || defined(BUG_STALE_VOTE)
#define MAY_ENTER(j, x)	(era[x] >= accepted[j])
#else
#define MAY_ENTER(j, x)	(era[x] >= promised[j])
#endif
#endif

/* A log is cut where it differs from the path to the view. The memory begins with the view. */
inline enter(j, x)
{
	view[j] = x + 1;
	promised[j] = era[x];
#ifndef BUG_STALE_VOTE
	/* R10: a report is of the disk as it was, so the node promises no earlier era any more. */
	for (a : 1 .. RESTARTS) {
		voters[a] = voters[a] & ~BIT(j)
	}
#endif
	from[j] = base[x];
#ifndef BUG_CUT
	compare(epoch[j], length[j], x);
	if
	:: common < length[j] ->
		damaged = damaged & ~BIT(j);
		length[j] = common;
		locate(common, x);
		epoch[j] = c
	:: else
	fi;
#endif
	forget(j)
}

inline crash(j)
{
	view[j] = 0;
#ifdef ALL_COUNT
	blind[j] = 0;
#endif
	from[j] = 0
}

inline new_view(set, before)
{
	members[views] = set;
	parent[views] = before;
	path[views] = path[before] | BIT(views);
	origins[views] = origins[before]
}

/* Members that have said that they leave the view v, in order. */
#ifdef ALL_COUNT
#define LEAVES_V(j)	HAS(parted[v], j)
#else
#define LEAVES_V(j)	(HAS(leaving, j) && record[j] == v && HAS(members[v], j))
#endif

/* The members of a view go on with others, and without those that are silent. */
inline change(set)
{
	v = 0;
	last = 0;
	for (a : 0 .. N - 1) {
		if
		:: HAS(set, a) && UP(a) -> v = view[a] - 1; last = 1
		:: else
		fi
	}
	elect = EACH(LEAVES_V);
	good = last && !HAS(ended, v) && set != members[v];
	first = set & members[v] & ~elect;
	good = good && 2 * WEIGHT(first) > WEIGHT(members[v] & ~elect) && !(set & elect);
	for (a : 0 .. N - 1) {
		if
		:: HAS(set, a) &&
		   (HAS(members[v], a) -> !IN(a, v) : UP(a) || !MAY_ENTER(a, v)) -> good = false
		:: else
		fi
	}
	value = good;
	symmetric(set);
	if
	:: good && value ->
		new_view(set, v);
		base[views] = top[v];
		top[views] = top[v];
		since[views] = (HAS(known, v) -> v : since[v]);
#ifndef ALL_COUNT
		parted[views] = elect;
#endif
		era[views] = era[v];
		ended = ended | BIT(v);
		changes++;
		for (b : 0 .. N - 1) {
			counted[views * N + b] = 0;
#ifndef NO_LOGGING
			if
			:: HAS(set, b) && HAS(members[v], b) ->
				counted[views * N + b] = counted[v * N + b]
			:: HAS(set, b) && !HAS(members[v], b) -> counted[views * N + b] = NEVER
			:: else
			fi;
#endif
			if
			:: HAS(set, b) && HAS(members[v], b) -> view[b] = views + 1
			:: HAS(set, b) && !HAS(members[v], b) ->
				enter(b, views);
#ifdef ALL_COUNT
				blind[b] = views
#endif
			:: HAS(elect, b) && IN(b, v) -> crash(b)
			:: else
			fi
		}
		views++
	:: else
	fi
}

/* ---- restart ------------------------------------------------------------------ */

/* With ALL_COUNT, only what runs knows that a member leaves. */
#ifdef BUG_LEAVE
#define REPORTS(j)	(!UP(j))
#else
#define REPORTS(j)	(!UP(j) && !HAS(leaving, j))
#endif

/* Is a reporter, with what it has on disk, one that counts in a view? */
#ifdef NO_LOGGING
#define IS_COUNTED(j, x) HAS(members[x], j)
#else
#ifdef BUG_CATCHING
#define IS_COUNTED(j, x) HAS(members[x], j)
#else
#ifdef BUG_STATES
#define IS_COUNTED(j, x) (HAS(members[x], j) && (HAS(says, j) || counted[(x) * N + (j)] <= got[j]))
#else
#define IS_COUNTED(j, x) (HAS(members[x], j) && counted[(x) * N + (j)] <= got[j])
#endif
#endif
#endif

/* Another log that is longer has what is damaged. */
#define IS_WHOLE(j)	(!HAS(damaged, j) || first > READABLE(j))

/* The newest record of the reporters, which is of view v. A later era is newer. */
inline find_newest(set)
{
	v = 0;
	for (a : 0 .. N - 1) {
		if
		:: HAS(set, a) && (era[record[a]] > era[v] ||
		   (era[record[a]] == era[v] && record[a] > v)) -> v = record[a]
		:: else
		fi
	}
}

#ifdef ALL_COUNT
/*
 * The last view on the way to v that a reporter knows to be established: into w. The views from
 * there to v that are in records: into listed. Into good: a reporter knows such a view, and of the
 * views from there to v, none is missing.
 */
inline find_range(set)
{
	w = NEVER;
	listed = 0;
	for (a : 0 .. N - 1) {
		c = record[a];
		if
		:: HAS(set, a) && HAS(members[c], a) && lacks[a] ->
			listed = listed | (path[c] & ~path[parent[lacks[a]]])
		:: HAS(set, a) && HAS(members[c], a) && !lacks[a] ->
			b = (HAS(noted, a) -> c : since[c]);
			listed = listed | BETWEEN(b, c);
			if
			:: HAS(path[v], b) && (w == NEVER || b > w) -> w = b
			:: else
			fi
		:: else
		fi
	}
	listed = listed & path[v];
	good = w != NEVER;
#ifdef BUG_UNKNOWN_RANGE
	w = (good || !listed -> w : LOWEST(listed));
	good = w != NEVER;
#endif
	if
	:: good ->
		listed = listed & BETWEEN(w, v);
#if !defined(BUG_GAP) && !defined(BUG_UNKNOWN_RANGE)
		good = listed == BETWEEN(w, v)
#endif
	:: else
	fi
}
#endif

/* The last view on the way to v that a reporter knows to be established: into w. */
inline find_established(set)
{
	w = 0;
	for (a : 0 .. N - 1) {
		if
		:: HAS(set, a) ->
			b = (HAS(noted, a) -> record[a] : since[record[a]]);
			if
			:: HAS(path[v], b) && b > w -> w = b
			:: else
			fi
		:: else
		fi
	}
}

/* The proposal that was accepted in the highest era: into value, or 0. */
inline find_accepted(set)
{
	last = 0;
	for (a : 0 .. N - 1) {
		if
		:: HAS(set, a) && accepted[a] > last -> last = accepted[a]
		:: else
		fi
	}
	value = proposal[last];
#ifdef BUG_ADOPT
	value = 0;
#endif
	if
	/* A view of this era or of a later one runs or ran, so a restart begins there. */
	:: last <= era[v] || HAS(origins[v], origin[value]) -> value = 0
	:: else
	fi
}

/* The longest log, as far as it is on the path to v: into first. */
inline find_base(set)
{
#ifdef BUG_SHORTEST
	first = NEVER;
#else
	first = 0;
#endif
	for (a : 0 .. N - 1) {
		if
		:: HAS(set, a) ->
			compare(epoch[a], READABLE(a), v);
#ifdef BUG_SHORTEST
			first = (common < first -> common : first);
#else
			first = (common > first -> common : first);
#endif
			got[a] = common
		:: else
		fi
	}
}

/* Of each view there is a log that has all that may have been durable in it. */
inline logs_suffice(set, views_between)
{
	rest = views_between;
	do
	:: rest == 0 -> break
	:: else ->
		c = LOWEST(rest);
		rest = rest & ~BIT(c);
		copies = 0;
		for (a : 0 .. N - 1) {
			if
			:: HAS(set, a) && IS_COUNTED(a, c) && IS_WHOLE(a) -> copies++
			:: else
			fi
		}
		if
#ifdef MAJORITY
		:: 2 * copies <= WEIGHT(members[c]) -> good = false
#else
		:: copies == 0 -> good = false
#endif
		:: else
		fi
	od
}

inline propose_view(set)
{
	new_view(set, v);
	base[views] = first;
	top[views] = first;
	since[views] = w;
	origin[views] = views;
	for (a : 0 .. N - 1) {
#ifdef NO_LOGGING
		counted[views * N + a] = 0
#else
		if
		:: HAS(set, a) && got[a] < first -> counted[views * N + a] = NEVER
		:: else -> counted[views * N + a] = 0
		fi
#endif
	}
}

/* A proposal that was accepted is made again. In the new era it is a view of its own. */
inline repeat_view(x)
{
	new_view(members[x], parent[x]);
	base[views] = base[x];
	top[views] = base[x];
	since[views] = since[x];
	origin[views] = origin[x];
	for (a : 0 .. N - 1) {
		counted[views * N + a] = (counted[x * N + a] -> NEVER : 0)
	}
}

/* The views that need a majority, and a log, in a restart. */
#ifdef ALL_COUNT
#define RANGE	listed
#else
#define RANGE	BETWEEN(w, v)
#endif

/* The range is known. */
inline restart(set)
{
	last = RANGE;
	majorities(set, last);
	find_base(set);
	logs_suffice(set, RANGE);
	elect = good;
	symmetric(set);
	common = good;
	if
	:: elect ->
		find_accepted(set);
		if
		:: value -> repeat_view(value)
		:: !value && common -> propose_view(set)
		:: else -> elect = false
		fi
	:: else
	fi;
	if
	:: elect ->
		attempts++;
		origins[views] = origins[views] | BIT(origin[views]);
		era[views] = attempts;
		proposal[attempts] = views;
		views++;
		for (a : 0 .. N - 1) {
			promised[a] = (HAS(set, a) -> attempts : promised[a])
		}
		voters[attempts] = set;
		range[attempts] = RANGE;
#ifdef BUG_FORGET_PROMISE
		reported[attempts] = set;
#endif
#ifndef BUG_PROMISE
		/* A reporter promises that it accepts no proposal of an earlier attempt. */
		for (a : 1 .. attempts - 1) {
			voters[a] = voters[a] & ~set
		}
#endif
	:: else
	fi
}

/* Nodes that are down report, promise, and get a proposal. */
inline attempt(set)
{
	find_newest(set);
#ifdef ALL_COUNT
	find_range(set);
	copies = good;
#ifdef SEEK_STUCK
	assert(good || set != ALL);
#endif
#else
	find_established(set);
	copies = true;
#endif
#ifdef BUG_NEWEST
	w = v;
#ifdef ALL_COUNT
	listed = BIT(v);
#endif
#endif
	if
	:: copies -> restart(set)
	:: else
	fi
}

/* L5: all that was shown as durable is there, in its order, and a member has it on disk. */
inline keeps(x)
{
	compare(shown_epoch, shown, x);
	assert(common == shown);
	last = 0;
	for (b : 0 .. N - 1) {
		compare(epoch[b], READABLE(b), shown_epoch);
		last = last + (HAS(members[x], b) && common >= shown)
	}
	assert(last > 0)
}

/* Majorities have accepted. Nodes that have just accepted begin, and others come when they can. */
inline choose(e)
{
	majorities(acks[e], range[e]);
	value = proposal[e];
	if
	:: good && !HAS(chosen, value) ->
		/* L6: restarts of one lineage follow each other. */
		for (b : 0 .. ROOM - 1) {
			assert(!HAS(chosen, b) || HAS(origins[b], origin[value]) ||
			       HAS(origins[value], origin[b]))
		}
		for (b : 0 .. ROOM - 1) {
			if
			:: HAS(chosen, b) && era[b] > e && HAS(origins[b], origin[value]) ->
				passed = passed | BIT(value)
			:: HAS(chosen & ~path[value], b) && era[b] < e &&
			   HAS(origins[value], origin[b]) ->
				passed = passed | BIT(b)
			:: else
			fi
		}
		if
		:: !HAS(passed, value) -> keeps(value)
		:: else
		fi;
		chosen = chosen | BIT(value);
		for (b : 0 .. N - 1) {
			if
			:: HAS(acks[e] & voters[e] & members[value], b) && !UP(b) ->
				enter(b, value)
			:: else
			fi
		}
	:: else
	fi
}

/* A member of a restart that stands comes after the others. */
inline come(j)
{
	v = 0;
	for (a : 0 .. N - 1) {
		if
		:: UP(a) && HAS(chosen, view[a] - 1) && !HAS(ended, view[a] - 1) &&
		   HAS(members[view[a] - 1], j) && MAY_ENTER(j, view[a] - 1) -> v = view[a] - 1
		:: else
		fi
	}
	if
	:: v != 0 -> enter(j, v)
	:: else
	fi
}

/* ---- steps -------------------------------------------------------------------- */

/* The next message, from the memory or from the log of another member. */
inline persist(j)
{
	v = view[j] - 1;
	good = READABLE(j) >= from[j];
	for (a : 0 .. N - 1) {
		if
		:: a != j && IN(a, v) ->
			compare(epoch[a], READABLE(a), v);
			good = good || common > READABLE(j)
		:: else
		fi
	}
	if
	:: good ->
		/* L1: a log has only messages of the view and of the views before. */
		compare(epoch[j], length[j], v);
		assert(common == length[j]);
		if
		:: HAS(damaged, j) -> damaged = damaged & ~BIT(j)
		:: else ->
			length[j]++;
			locate(length[j], v);
			epoch[j] = c
		fi;
		forget(j)
	:: else
	fi
}

inline sync_record(j)
{
	record[j] = view[j] - 1;
	noted = noted & ~BIT(j);
#ifdef ALL_COUNT
	lacks[j] = blind[j];
#endif
	leaving = leaving & ~BIT(j)
}

#ifdef ALL_COUNT
/* A joiner takes its view for established, or gets the range. */
inline see(j)
{
	blind[j] = 0;
#ifdef BUG_BIT_OF_OTHER_VIEW
	noted = noted | BIT(j);
	lacks[j] = 0
#endif
}
#endif

/* The last message of a log cannot be read any more. It is kept until there is another copy. */
inline damage(j)
{
#ifdef BUG_CORRUPT
	length[j]--;
	locate(length[j], epoch[j]);
	epoch[j] = c
#else
	damaged = damaged | BIT(j)
#endif
}

/* The record says that its view is established, so it needs no range. */
inline note(j)
{
	noted = noted | BIT(j);
#ifdef ALL_COUNT
	lacks[j] = 0
#endif
}

/* A member of a view that has ended without it, or was passed, stops in the end: no fault. */
#define STALE(j)	HAS(ended | passed, view[j] - 1)

/*
 * Can an acceptance still matter? Only find_accepted() reads it, in an attempt that follows, and
 * passes it over if the record of the node has that era. The weaker rules read it in MAY_ENTER().
 */
#if defined(BUG_TURN_PROMISE) || defined(BUG_STALE_VOTE)
#define IS_READ(j)	true
#else
#define IS_READ(j)	(attempts < RESTARTS && era[record[j]] < accepted[j])
#endif

/*
 * Forget what no step reads any more, so that states can be the same. Of a promise, only what it
 * forbids matters: views that run, and those of open attempts. Of a proposal that nobody can accept
 * or repeat, only the members matter, for symmetric().
 */
inline tidy()
{
	elect = 0;
	for (a : 0 .. N - 1) {
		elect = elect | (UP(a) -> BIT(era[view[a] - 1]) : 0);
		accepted[a] = (IS_READ(a) -> accepted[a] : 0)
	}
	for (b : 1 .. RESTARTS) {
		elect = elect | (range[b] -> BIT(b) : 0)
	}
	rest = 0;
	for (a : 0 .. N - 1) {
		first = elect & (BIT(promised[a]) - 1);
		promised[a] = (first -> HIGHEST(first) + 1 : 0);
		rest = rest | BIT(accepted[a])
	}
	for (b : 1 .. RESTARTS) {
		w = proposal[b];
		if
		:: w && !range[b] && !HAS(rest, b) ->
			proposal[b] = 0;
			if
			:: !HAS(chosen, w) ->
				parent[w] = 0;
				path[w] = 0;
				base[w] = 0;
				top[w] = 0;
				since[w] = 0;
				era[w] = 0;
				origin[w] = 0;
				origins[w] = 0;
				for (a : 0 .. N - 1) {
					counted[w * N + a] = 0
				}
			:: else
			fi
		:: else
		fi
	}
}

/* Attempts that cannot succeed are closed, so that states can be the same. */
inline close()
{
	for (b : 1 .. RESTARTS) {
		if
		:: range[b] != 0 ->
			majorities(acks[b] | voters[b], range[b]);
#ifdef BUG_FORGET_PROMISE
			good = true;
#endif
			if
			:: !good || HAS(chosen, proposal[b]) ->
#ifdef BUG_FORGET_CHOSEN
				for (a : 0 .. N - 1) {
					accepted[a] = (accepted[a] == b -> 0 : accepted[a])
				}
#endif
				range[b] = 0;
				acks[b] = 0;
				voters[b] = 0
			:: else
			fi
		:: else
		fi
	}
	tidy()
}

/* What node, view, attempt or set can do. */
#ifdef RANGE_SENT
#define CAN_SYNC(i)	(UP(i) && record[i] != view[i] - 1 && !blind[i])
#else
#define CAN_SYNC(i)	(UP(i) && record[i] != view[i] - 1)
#endif
#ifdef ALL_COUNT
/* A joiner sees that another member shows that its view is established. */
#ifdef BUG_BIT_OF_OTHER_VIEW
#define SHOWN(i)	(HAS(known, view[i] - 1) || since[view[i] - 1] == parent[view[i] - 1])
#else
#define SHOWN(i)	HAS(known, view[i] - 1)
#endif
#ifdef RANGE_SENT
/* A member that knows the range sends it. */
#define CAN_SEE(i)	(UP(i) && blind[i] && (RUNS_IN(view[i] - 1) & EACH(SIGHTED)))
#else
#define CAN_SEE(i)	(UP(i) && !CAN_SYNC(i) && blind[i] && SHOWN(i))
#endif
#define CAN_NOTE(i)	(UP(i) && record[i] == view[i] - 1 && HAS(known, record[i]) && \
			 !HAS(noted, i) && !blind[i])
#define CAN_LEAVE(i)	(leaves > 0 && UP(i) && !HAS(parted[view[i] - 1], i) && !STALE(i))
#else
#define CAN_NOTE(i)	(UP(i) && !CAN_SYNC(i) && HAS(known, record[i]) && !HAS(noted, i))
#define CAN_LEAVE(i)	(leaves > 0 && UP(i) && !CAN_SYNC(i) && !HAS(leaving, i) && !STALE(i))
#endif
#define CAN_PERSIST(i)	(UP(i) && READABLE(i) < top[view[i] - 1])
#define CAN_CRASH(i)	(UP(i) && (STALE(i) || crashes > 0))
#define CAN_COME(i)	(!UP(i) && chosen && RUNS)
#define CAN_DAMAGE(i)	(damages > 0 && !attempts && !UP(i) && length[i] > 0 && \
			 !HAS(damaged, i))
#define IN_PART(i)	(UP(i) && counted[(view[i] - 1) * N + i] == NEVER)
#define FULL(x)		(!HAS(ended, x) && (RUNS_IN(x) & members[x]) == members[x])
#define CAN_SEND(i)	(UP(i) && sent < MESSAGES && LOWEST(RUNS_IN(view[i] - 1)) == i && \
			 FULL(view[i] - 1))
#ifdef BUG_STATES
#define CAN_LOG(i)	(IN_PART(i) && !HAS(says, i))
#define CAN_HEAR(i)	(IN_PART(i) && HAS(says, i))
#else
#define CAN_LOG(i)	(IN_PART(i) && sent < MESSAGES && FULL(view[i] - 1))
#endif
#define CAN_CHOOSE(e)	(range[e] != 0)
#define CAN_ACCEPT(i, e) (!UP(i) && range[e] != 0 && HAS(voters[e] & ~acks[e], i))
#define CAN_FORGET_1(i)	(!UP(i) && range[1] != 0 && HAS(reported[1] & ~voters[1], i))
#define CAN_FORGET_VALUE(i) (!UP(i) && accepted[i])
#ifdef TO_1
#define ON_COURSE(set)	((set) == (changes == 0 -> TO_1 : (changes == 1 -> TO_2 : TO_3)))
#else
#define ON_COURSE(set)	true
#endif
#define CAN_CHANGE(set)	(changes < VIEWS && ON_COURSE(set) && ((set) & RUNS))
#ifdef AT_1
#define ON_TIME(set)	((set) == (attempts == 0 -> AT_1 : (attempts == 1 -> AT_2 : AT_3)))
#else
#define ON_TIME(set)	true
#endif
#define CAN_ATTEMPT(set) (attempts < RESTARTS && ON_TIME(set) && (EACH(REPORTS) & (set)) == (set))

/* One of those that can. */
#if N > 3
#define FOURTH(CAN)	:: d_step { CAN(3) -> it = 3 }
#else
#define FOURTH(CAN)
#endif
#if N > 4
#define FIFTH(CAN)	:: d_step { CAN(4) -> it = 4 }
#else
#define FIFTH(CAN)
#endif
#define NODE(CAN) \
	if \
	:: d_step { CAN(0) -> it = 0 } \
	:: d_step { CAN(1) -> it = 1 } \
	:: d_step { CAN(2) -> it = 2 } \
	FOURTH(CAN) \
	FIFTH(CAN) \
	fi

#if RESTARTS > 1
#define SECOND(CAN)	:: d_step { CAN(2) -> e = 2 }
#else
#define SECOND(CAN)
#endif
#if RESTARTS > 2
#define THIRD(CAN)	:: d_step { CAN(3) -> e = 3 }
#else
#define THIRD(CAN)
#endif
#define ERA(CAN) \
	if \
	:: d_step { CAN(1) -> e = 1 } \
	SECOND(CAN) \
	THIRD(CAN) \
	fi
#define ONE_OF(CAN, m)	:: d_step { CAN(m) -> it = m }
#define TWO_OF(CAN, m)	ONE_OF(CAN, m) ONE_OF(CAN, m + 1)
#define FOUR_OF(CAN, m)	TWO_OF(CAN, m) TWO_OF(CAN, m + 2)
#if N > 3
#define TO_15(CAN)	FOUR_OF(CAN, 8) FOUR_OF(CAN, 12)
#else
#define TO_15(CAN)
#endif
#if N > 4
#define TO_31(CAN)	FOUR_OF(CAN, 16) FOUR_OF(CAN, 20) FOUR_OF(CAN, 24) FOUR_OF(CAN, 28)
#else
#define TO_31(CAN)
#endif
#define SET(CAN) \
	if \
	ONE_OF(CAN, 1) ONE_OF(CAN, 2) ONE_OF(CAN, 3) \
	FOUR_OF(CAN, 4) \
	TO_15(CAN) \
	TO_31(CAN) \
	fi

#define CAN_ACCEPT_1(i)	CAN_ACCEPT(i, 1)
#define CAN_ACCEPT_2(i)	CAN_ACCEPT(i, 2)
#define CAN_ACCEPT_3(i)	CAN_ACCEPT(i, 3)

inline accept(j, e)
{
	acks[e] = acks[e] | BIT(j);
	accepted[j] = (accepted[j] > e -> accepted[j] : e)
}

active proctype world()
{
	byte it, e;

	d_step {
		members[0] = (1 << FIRST) - 1;
		path[0] = 1;
		for (b : 0 .. FIRST - 1) {
			view[b] = 1
		}
		known = 1;
		skip
	}
	do
	:: atomic {
		if
		:: NODE(CAN_SYNC); d_step { sync_record(it); skip }
		:: NODE(CAN_NOTE); d_step { note(it); skip }
		:: NODE(CAN_PERSIST); d_step { persist(it); skip }
#ifdef ALL_COUNT
		:: NODE(CAN_SEE); d_step { see(it); skip }
		:: NODE(CAN_LEAVE); d_step {
			leaves--;
			parted[view[it] - 1] = parted[view[it] - 1] | BIT(it);
			skip
		}
#else
		:: NODE(CAN_LEAVE); d_step { leaves--; leaving = leaving | BIT(it); skip }
#endif
		:: NODE(CAN_CRASH); d_step {
			crashes = crashes - !STALE(it);
			crash(it);
			skip
		}
		:: NODE(CAN_COME); d_step { come(it); skip }
		:: NODE(CAN_SEND); d_step { sent++; top[view[it] - 1]++; skip }
#if DAMAGES
		:: NODE(CAN_DAMAGE); d_step { damages--; damage(it); skip }
#endif
#ifndef NO_LOGGING
#ifdef BUG_STATES
		:: NODE(CAN_LOG); d_step { says = says | BIT(it); skip }
		:: NODE(CAN_HEAR); d_step { counted[(view[it] - 1) * N + it] = 0; skip }
#else
		/* A LOGGING record is a message. */
		:: NODE(CAN_LOG); d_step {
			sent++;
			top[view[it] - 1]++;
			counted[(view[it] - 1) * N + it] = top[view[it] - 1];
			skip
		}
#endif
#endif
#ifdef BUG_FORGET_PROMISE
		:: NODE(CAN_FORGET_1); d_step { voters[1] = voters[1] | BIT(it); skip }
#endif
#ifdef BUG_FORGET_VALUE
		:: NODE(CAN_FORGET_VALUE); d_step { accepted[it] = 0; skip }
#endif
		:: NODE(CAN_ACCEPT_1); d_step { accept(it, 1); skip }
#if RESTARTS > 1
		:: NODE(CAN_ACCEPT_2); d_step { accept(it, 2); skip }
#endif
#if RESTARTS > 2
		:: NODE(CAN_ACCEPT_3); d_step { accept(it, 3); skip }
#endif
		:: ERA(CAN_CHOOSE); d_step { choose(e); e = 0; skip }
		:: SET(CAN_CHANGE); d_step { change(it); skip }
		:: SET(CAN_ATTEMPT); d_step { attempt(it); skip }
		:: d_step {
			RUNS && totals > 0 ->
			totals--;
			for (b : 0 .. N - 1) {
				crash(b)
			};
			skip
		}
		fi;
		d_step { it = 0; close(); look(); skip }
	   }
	:: timeout -> break
	od
}
