// SPDX-License-Identifier: GPL-2.0-only
/*
 * A model of the view change, for Spin: what kmod/core/{membership,suspect,agree,show}.c do,
 * and as much of the subgroups as the trim needs. Documentation/design/membership.rst says what is
 * left out. "run" checks it, and breaks it.
 *
 *	N	members of the first view, 3 or 4
 *	VIEWS	changes of the view that are looked at
 *	SENDERS	mask of members that send a message in each view
 *	CRASHES	members that crash, at most
 *	DOUBTS	suspicions, at most, of members that are up
 *	LEAVERS	mask of members that may want to leave
 *	WISHES	views that end, at most, because a node wants to join
 *	RULES	mask of members that may offer other rules
 *	OFFERS	offers, at most, with those that are taken back
 *	KINDS	other rules that there are, 1 or 2
 *	ROOM	versions of a row at a time
 *	BUG_x	a rule that is broken, see run
 *	ONE_DECREE asserts that a leader never sees two
 *
 * A pass of an engine is one step, and so is each arrival. What a member shows is a list of
 * versions of its row. Each reader has a place in that list of its own, and moves on along it
 * whenever it likes, one version at a time: writes arrive in order, as late as can be, and
 * overwrite each other. A member that crashes may have shown a version to some and not to
 * others, because a member that suspects it reads no more of its row.
 */
#ifndef N
#define N 3
#endif
#ifndef VIEWS
#define VIEWS 1
#endif
#ifndef SENDERS
#define SENDERS 1
#endif
#ifndef CRASHES
#define CRASHES 1
#endif
#ifndef DOUBTS
#define DOUBTS 1
#endif
#ifndef LEAVERS
#define LEAVERS 0
#endif
#ifndef WISHES
#define WISHES 0
#endif

#ifndef RULES
#define RULES 0
#endif
#ifndef OFFERS
#define OFFERS 4
#endif
#ifndef KINDS
#define KINDS 1
#endif

/* Versions of a row that some member has still to see. An assertion checks that they suffice. */
#ifndef ROOM
#if RULES
#define ROOM	(2 + 5 * VIEWS + OFFERS)
#else
#define ROOM	(2 + 5 * VIEWS)
#endif
#endif

#define ALL	((1 << N) - 1)
#define BIT(i)	(1 << (i))
#define HAS(mask, i) (((mask) >> (i)) & 1)
#define WEIGHT(m) (((m) & 1) + (((m) >> 1) & 1) + (((m) >> 2) & 1) + (((m) >> 3) & 1))
#define LOWEST(m) (((m) & 1) -> 0 : (((m) & 2) -> 1 : (((m) & 4) -> 2 : 3)))

#define ACTIVE		0
#define WEDGED		1
#define FENCED		2
#define ECHOED		3
#define COMMITTED	4

/*
 * A version of a row. A decree is its survivors, its trim above them, then the other rules that it
 * leads to (0: none), and whether it lets a node in. A row has room for the latter two at its end.
 */
#define ROW_VID(r)	((r) & 3)
#define ROW_STATE(r)	(((r) >> 2) & 7)
#define ROW_BALLOT(r)	(((r) >> 5) & 7)
#define ROW_SUSPECTED(r) (((r) >> 8) & 15)
#if RULES
#define ROW_DECREE(r)	((((r) >> 12) & 255) | ((((r) >> 27) & 7) << 8))
#else
#define ROW_DECREE(r)	(((r) >> 12) & 255)
#endif
#define ROW_HAVE(r)	(((r) >> 20) & 15)
#define ROW_LEAVES(r)	(((r) >> 24) & 1)
#define ROW_OFFER(r)	(((r) >> 25) & 3)

#define SURVIVORS(d)	((d) & 15)
#define TRIM(d)		(((d) >> 4) & 15)
#define OTHER_RULES(d)	(((d) >> 8) & 3)
#define LETS_IN		(1 << 10)

#if RULES
#define DECREE		short
#else
#define DECREE		byte
#endif

/* What the members know of themselves. Suspicions stay behind when the suspect has gone. */
byte vid[N];
byte state[N];
byte ballot[N];
DECREE decree[N];
byte suspected[N];
byte got[N];		/* the senders whose message of this view is here */
byte leavers[N];	/* members that have been seen to leave this view */
byte due;		/* members that have something new to look at, or to do */
byte leaving;
byte crashed;
byte stopped;

#if RULES
byte rules[N];		/* in force: 0 are those of the first view */
byte offer[N];		/* other rules, which a member would follow, or 0 */
byte asked;		/* members that end their view because a node wants to join */
byte offers;
#ifdef BUG_LOOK
byte looked[N];		/* the rules that all offered when a leader wedged */
#endif
#endif

/* Versions of rows, oldest first, and where readers are. */
int shown[N * ROOM];
byte versions[N];
byte place[N * N];

/* What the world knows. */
byte members[VIEWS + 1];
DECREE decided[VIEWS];	/* the decree that a member takes for chosen */
byte delivered[VIEWS];	/* messages that a member may have delivered as stable */
byte crashes;
byte doubts;
byte wishes;
byte started_doubts;

/* Of one step. */
hidden byte a, b, alive, voters, leader, best, low;
hidden DECREE best_decree;
#if RULES
hidden byte agreed, agree;
#endif
hidden byte all_wedged, any_wedged, all_ready, all_stand, two_decrees, todo;
hidden int row;

#define DOWN		(crashed | stopped)
#define UP(j)		(!HAS(DOWN, j) && vid[j] < VIEWS)
#define SEEN(j, i)	shown[(i) * ROOM + place[(j) * N + (i)]]
#define NEXT(j, i)	shown[(i) * ROOM + place[(j) * N + (i)] + 1]
#define LAST(j)		shown[(j) * ROOM + versions[j] - 1]
#define FOLLOWS(j, i)	(UP(j) && (j) != (i) && HAS(members[vid[j]], i) && !IGNORES(j, i))

#ifdef BUG_STALE
#define IGNORES(j, i)	false
#else
#define IGNORES(j, i)	HAS(suspected[j], i)
#endif

/* Members that decide, as far as it is known here: a majority is one of these. */
#define ELECTORATE(j)	(members[vid[j]] & ~leavers[j])

#ifdef BUG_HALF
#define QUORUM(j, m)	(2 * WEIGHT((m) & ELECTORATE(j)) >= WEIGHT(ELECTORATE(j)))
#else
#ifdef BUG_MINORITY
#define QUORUM(j, m)	true
#else
#define QUORUM(j, m)	(2 * WEIGHT((m) & ELECTORATE(j)) > WEIGHT(ELECTORATE(j)))
#endif
#endif

/* Versions that no member will look at are forgotten, so that states can be the same. */
inline forget(i)
{
	low = versions[i] - 1;
	for (b : 0 .. N - 1) {
		if
		:: FOLLOWS(b, i) && place[b * N + i] < low -> low = place[b * N + i]
		:: else
		fi
	}
	if
	:: low > 0 ->
		for (b : 0 .. N - 1) {
			if
			:: FOLLOWS(b, i) -> place[b * N + i] = place[b * N + i] - low
			:: else
			fi
		}
		for (b : 0 .. ROOM - 1) {
			if
			:: b + low < versions[i] -> shown[i * ROOM + b] = shown[i * ROOM + b + low]
			:: else -> shown[i * ROOM + b] = 0
			fi
		}
		versions[i] = versions[i] - low
	:: else
	fi
}

/* A reader looks at fewer rows than before, or is gone. */
inline settle(j)
{
	for (a : 0 .. N - 1) {
		if
		:: !FOLLOWS(j, a) -> place[j * N + a] = 0
		:: else
		fi;
		forget(a)
	}
}

/* The columns. What is received is shown when nothing more is; what was sent, by the fence. */
inline columns(j)
{
	row = vid[j] | (state[j] << 2) | ((suspected[j] & members[vid[j]]) << 8) |
	      ((decree[j] & 255) << 12);
#if RULES
	row = row | (offer[j] << 25) | ((decree[j] >> 8) << 27);
#endif
	if
	:: HAS(leaving, j) -> row = row | (1 << 24)
	:: else -> row = row | (ballot[j] << 5)
	fi;
	if
	:: state[j] >= FENCED -> row = row | (got[j] << 20)
	:: state[j] == WEDGED -> row = row | ((got[j] & BIT(j)) << 20)
	:: else
	fi
}

inline show_row(j)
{
	columns(j);
	if
	:: row != LAST(j) ->
		assert(versions[j] < ROOM);
		shown[j * ROOM + versions[j]] = row;
		versions[j]++
	:: else
	fi
}

/* A member that stops says so, and the other members suspect it as if it had crashed. */
inline stop(j)
{
	stopped = stopped | BIT(j)
}

/* The decree is taken for chosen. All that a member may rely on is asserted here. */
inline commit(j)
{
	state[j] = COMMITTED;
	/* Agreement, and with it no two groups that both go on. */
	assert(decided[vid[j]] == 0 || decided[vid[j]] == decree[j]);
	decided[vid[j]] = decree[j];
	members[vid[j] + 1] = SURVIVORS(decree[j]);
#if RULES
	/* A node that joins knows the old rules. */
	assert(!OTHER_RULES(decree[j]) || !(decree[j] & LETS_IN));
#endif
	/* A trim is of what is here, and has all delivered messages and all of this member. */
	assert((TRIM(decree[j]) & ~got[j]) == 0);
	assert((delivered[vid[j]] & ~TRIM(decree[j])) == 0);
	assert((got[j] & BIT(j) & ~TRIM(decree[j])) == 0);
	/*
	 * A majority has accepted it. A member that is beyond has accepted it, or has learned it
	 * from members that have.
	 */
	low = 0;
	for (b : 0 .. N - 1) {
		if
		:: HAS(members[vid[j]], b) && (vid[b] > vid[j] ||
		   (vid[b] == vid[j] && decree[b] == decree[j] && (ballot[b] || state[b] == COMMITTED))) ->
			low++
		:: else
		fi
	}
	assert(2 * low > WEIGHT(members[vid[j]] & ~leaving))
}

#if RULES
/* A survivor has what it needs for the rules, and all members of a view have the same. */
inline follow_rules(j)
{
	if
	:: OTHER_RULES(decree[j]) ->
		assert(offer[j] == OTHER_RULES(decree[j]));
		rules[j] = OTHER_RULES(decree[j])
	:: else
	fi;
	low = 0;
	for (b : 0 .. vid[j]) {
		if
		:: OTHER_RULES(decided[b]) -> low = OTHER_RULES(decided[b])
		:: else
		fi
	}
	assert(rules[j] == low);
#ifndef BUG_OUTLIVES
	offer[j] = 0;
#endif
	asked = asked & ~BIT(j)
}
#endif

inline install(j)
{
	if
	:: HAS(leaving, j) || !HAS(SURVIVORS(decree[j]), j) -> stop(j)
	:: else ->
#if RULES
		follow_rules(j);
#endif
		vid[j]++;
		state[j] = ACTIVE;
		ballot[j] = 0;
		got[j] = 0;
		leavers[j] = 0
	fi
}

/* Read beat and state of all: suspicions become own ones, and those with reason are kept. */
inline hear(j)
{
	for (a : 0 .. N - 1) {
		if
		:: FOLLOWS(j, a) && ROW_VID(SEEN(j, a)) == vid[j] ->
			suspected[j] = suspected[j] | (ROW_SUSPECTED(SEEN(j, a)) & ~BIT(j));
			leavers[j] = leavers[j] | (ROW_LEAVES(SEEN(j, a)) << a)
		:: else
		fi
	}
}

/* A member of the next view stands by the decree that led there. */
#ifdef BUG_BEYOND
#define BEHIND(j)	true
#else
#define BEHIND(j)	(ROW_VID(row) != vid[j] + 1)
#endif

#if RULES
/* The rules that all voters offer. A row counts as it is, even if it is of the view before. */
inline look_at_offers(j)
{
	agreed = offer[j];
	agree = 1;
	for (a : 0 .. N - 1) {
		if
		:: a != j && HAS(voters, a) && ROW_OFFER(SEEN(j, a)) == offer[j] -> agree++
		:: else
		fi
	}
	if
#ifdef BUG_OFFERS
	:: 2 * agree <= WEIGHT(voters) -> agreed = 0
#else
	:: agree < WEIGHT(voters) -> agreed = 0
#endif
	:: else
	fi
}
#endif

/* What all predicates ask of the others. */
inline look(j)
{
	alive = members[vid[j]] & ~suspected[j];
	voters = alive & ~leavers[j];
	all_wedged = true;
	any_wedged = false;
	all_ready = true;
	all_stand = true;
	two_decrees = false;
	best = ballot[j];
	best_decree = decree[j];
#if RULES
	look_at_offers(j);
#endif
	for (a : 0 .. N - 1) {
		if
		:: a != j && HAS(alive, a) ->
			row = SEEN(j, a);
			if
			:: ROW_VID(row) == vid[j] ->
				if
				:: ROW_STATE(row) >= WEDGED -> any_wedged = true
				:: else -> all_wedged = false
				fi;
#ifdef BUG_PROMISE
				if
				:: ROW_STATE(row) < FENCED -> all_ready = false
				:: else
				fi;
#else
				if
				:: ROW_STATE(row) < FENCED ||
				   ROW_SUSPECTED(row) != (suspected[j] & members[vid[j]]) ->
					all_ready = false
				:: else
				fi;
#endif
				if
				:: HAS(voters, a) ->
					if
					:: ROW_BALLOT(row) && best && ROW_DECREE(row) != best_decree ->
						two_decrees = true
					:: else
					fi;
					if
					:: ROW_BALLOT(row) > best ->
						best = ROW_BALLOT(row);
						best_decree = ROW_DECREE(row)
					:: else
					fi;
					if
					:: !ROW_BALLOT(row) || ROW_DECREE(row) != decree[j] ->
						all_stand = false
					:: else
					fi
				:: else
				fi
			:: else ->
				all_wedged = false;
				all_ready = false;
				if
				:: HAS(voters, a) && (BEHIND(j) || ROW_BALLOT(row) ||
				   ROW_DECREE(row) != decree[j]) -> all_stand = false
				:: else
				fi
			fi
		:: else
		fi
	}
}

inline compose(j)
{
	best = got[j];
	for (a : 0 .. N - 1) {
		if
		:: a != j && HAS(alive, a) ->
#ifdef BUG_TRIM_OWN
			skip
#else
#ifdef BUG_TRIM_MOST
			best = best | ROW_HAVE(SEEN(j, a))
#else
			best = best & ROW_HAVE(SEEN(j, a))
#endif
#endif
		:: else
		fi
	}
	decree[j] = voters | (best << 4);
#if RULES
#ifdef BUG_LOOK
	agreed = looked[j];
#endif
	decree[j] = decree[j] | (agreed << 8);
	if
#ifdef BUG_BOTH
	:: HAS(asked, j) -> decree[j] = decree[j] | LETS_IN
#else
	:: HAS(asked, j) && !agreed -> decree[j] = decree[j] | LETS_IN
#endif
	:: else
	fi
#endif
}

#if RULES
/* A member that is to follow other rules has offered them, and they are other ones. */
#define CAN_FOLLOW(j, d) (!OTHER_RULES(d) || HAS(leaving, j) || \
			  (OTHER_RULES(d) == offer[j] && OTHER_RULES(d) != rules[j]))
#else
#define CAN_FOLLOW(j, d) true
#endif

#ifdef BUG_FORGETS
#define ADOPTED(d)	((d) & ~(3 << 8))
#else
#define ADOPTED(d)	(d)
#endif

inline propose(j)
{
#ifdef ONE_DECREE
	/* Is the highest ballot more than any ballot? */
	assert(!two_decrees);
#endif
#ifdef BUG_TAKEOVER
	compose(j);
#else
	if
#ifdef BUG_OWN_ONLY
	:: ballot[j] > 0
#else
	:: best > 0 -> assert(CAN_FOLLOW(j, best_decree)); decree[j] = ADOPTED(best_decree)
#endif
	:: else -> compose(j)
	fi;
#endif
	ballot[j] = j + 1;
	state[j] = ECHOED
}

/* Otherwise a member has lied, and in this model none does. */
inline take(j)
{
	row = SEEN(j, leader);
	assert((TRIM(ROW_DECREE(row)) & ~got[j]) == 0);
	/* All that this member counts in are counted in. */
	assert((voters & ~SURVIVORS(ROW_DECREE(row))) == 0);
	assert(CAN_FOLLOW(j, ROW_DECREE(row)));
	decree[j] = ROW_DECREE(row);
	state[j] = ECHOED
}

inline accept(j)
{
	take(j);
	ballot[j] = leader + 1
}

/* What a member of the next view shows is accepted in place of what the leader shows. */
inline learn(j)
{
	take(j);
	if
	:: voters != 0 -> ballot[j] = LOWEST(voters) + 1
	:: else -> ballot[j] = j + 1
	fi
}

#define NOTHING		0
#define STOP		1
#define LEARN		2
#define WEDGE		3
#define FENCE		4
#define PROPOSE		5
#define ACCEPT		6
#define COMMIT		7
#define INSTALL		8
#define SHOW		9

#define AHEAD(j, i)	(ROW_VID(SEEN(j, i)) > vid[j])

/* Somebody alive is in the next view: its decree is the one. */
inline decide_learn(j)
{
	for (a : 0 .. N - 1) {
		if
		:: todo == NOTHING && a != j && HAS(alive, a) && AHEAD(j, a) ->
			leader = a;
			row = SEEN(j, a);
			if
			:: ROW_VID(row) > vid[j] + 1 || ROW_BALLOT(row) || state[j] < FENCED ->
				todo = STOP
			:: else ->
				/* A member that has accepted a decree stays with it, and it is the same. */
				assert(ballot[j] == 0 || ROW_DECREE(row) == decree[j]);
				if
				:: ballot[j] == 0 -> todo = LEARN
				:: else
				fi
			fi
		:: else
		fi
	}
}

inline decide_vote(j)
{
#ifdef BUG_STALE
	leader = LOWEST(members[vid[j]] & ~leavers[j]);
#else
	leader = LOWEST(voters);
#endif
	if
	:: voters == 0
	:: voters != 0 && leader == j && ballot[j] != j + 1 && all_ready -> todo = PROPOSE
	:: voters != 0 && leader != j && ROW_VID(SEEN(j, leader)) == vid[j] &&
	   ROW_BALLOT(SEEN(j, leader)) == leader + 1 && ballot[j] < leader + 1 -> todo = ACCEPT
	:: else
	fi
}

#ifdef BUG_FENCE_WAIT
#define FENCE_DUE	true
#else
#define FENCE_DUE	all_wedged
#endif

#ifdef BUG_ALONE
#define CHOSEN		true
#else
#define CHOSEN		all_stand
#endif

#if RULES
#define RULES_DUE(j)	(agreed && LOWEST(voters) == j)
#else
#define RULES_DUE(j)	false
#endif

/*
 * What a pass would do now, as in spindle_mb_run(); a pass that does nothing is no step.
 * Suspicions are heard here: that is at an arrival, and ahead of the rest of the pass.
 */
inline decide(j)
{
	todo = NOTHING;
	leavers[j] = leavers[j] | (leaving & BIT(j));
	hear(j);
	look(j);
	if
	:: state[j] < COMMITTED && !QUORUM(j, alive) -> todo = STOP
	:: state[j] < COMMITTED && QUORUM(j, alive) -> decide_learn(j)
	:: else -> todo = INSTALL
	fi;
	if
	:: todo != NOTHING
	:: todo == NOTHING && state[j] == ACTIVE &&
	   ((suspected[j] & members[vid[j]]) || leavers[j] || any_wedged ||
	    RULES_DUE(j)) -> todo = WEDGE
	:: todo == NOTHING && state[j] == WEDGED && FENCE_DUE -> todo = FENCE
	:: todo == NOTHING && state[j] == ECHOED && CHOSEN -> todo = COMMIT
	:: todo == NOTHING && (state[j] == FENCED || (state[j] == ECHOED && !CHOSEN)) ->
		decide_vote(j)
	:: else
	fi;
	columns(j);
	if
	:: todo == NOTHING && row != LAST(j) -> todo = SHOW
	:: else
	fi;
	if
	:: todo == NOTHING -> due = due & ~BIT(j)
	:: else -> due = due | BIT(j)
	fi
}

/* Something is new for a member. */
inline news(j)
{
	if
	:: UP(j) -> decide(j)
	:: else -> due = due & ~BIT(j)
	fi;
	settle(j)
}

inline wedge(j)
{
#ifdef BUG_LOOK
	looked[j] = agreed;
#endif
	state[j] = WEDGED
}

/* spindle_mb_run(), and what is pushed behind it. */
inline pass(j)
{
	decide(j);
	if
	:: todo == STOP -> stop(j)
	:: todo == LEARN -> learn(j)
	:: todo == WEDGE -> wedge(j)
	:: todo == FENCE -> state[j] = FENCED
	:: todo == PROPOSE -> propose(j)
	:: todo == ACCEPT -> accept(j)
	:: todo == COMMIT -> commit(j)
	:: todo == INSTALL -> install(j)
	:: else
	fi;
	if
	:: !HAS(DOWN, j) -> show_row(j)
	:: else
	fi;
	news(j)
}

/* ---- what may happen ---------------------------------------------------------- */

#ifdef BUG_WEDGE
#define MAY_SEND(j)	(state[j] <= FENCED)
#else
#define MAY_SEND(j)	(state[j] == ACTIVE)
#endif

#ifdef BUG_FREEZE
#define MAY_GET(j, i)	(state[j] < COMMITTED)
#else
#define MAY_GET(j, i)	(state[j] < FENCED && !HAS(suspected[j], i))
#endif

#ifdef BUG_FENCE
#define FLUSHED(j, i)	true
#else
/* The fence comes behind the message, which is written only to members of its view. */
#define FLUSHED(j, i)	(!HAS(ROW_HAVE(NEXT(j, i)), i) || vid[j] > ROW_VID(NEXT(j, i)) || \
			 (vid[j] == ROW_VID(NEXT(j, i)) && HAS(got[j], i)))
#endif

/* Something is stable when all of the view have it: so one of them may have delivered it. */
inline receive(j, i)
{
	got[j] = got[j] | BIT(i);
	best = got[j];
	for (a : 0 .. N - 1) {
		if
		:: HAS(members[vid[j]], a) ->
			if
			:: vid[a] == vid[j] -> best = best & got[a]
			:: else -> best = 0
			fi
		:: else
		fi
	}
#ifdef BUG_UNSTABLE
	best = got[j];
#endif
	delivered[vid[j]] = delivered[vid[j]] | best;
	/* Nothing is added to a view behind its end. */
	assert(decided[vid[j]] == 0 || (best & ~TRIM(decided[vid[j]])) == 0)
}

/* A member that hears of a majority accuses. A member that does not stops without a word. */
inline doubt(j, i)
{
	if
	:: !HAS(DOWN, i) -> doubts--
	:: else
	fi;
	if
	:: QUORUM(j, members[vid[j]] & ~suspected[j] & ~BIT(i)) ->
		suspected[j] = suspected[j] | BIT(i)
	:: else -> stop(j)
	fi;
	news(j)
}

/*
 * All is quiet, and nothing is left to happen. Whoever is up has to be in a view of exactly
 * those that are up, or in the last one that is looked at. As long as a majority could go
 * on, none but a suspect has stopped.
 */
inline quiet(j)
{
	assert(HAS(DOWN, j) || vid[j] == VIEWS || (state[j] == ACTIVE &&
	       (members[vid[j]] & (DOWN | suspected[j])) == 0))
}

#ifdef BUG_THAW
#define MAY_OFFER(j)	(state[j] < COMMITTED)
#else
#define MAY_OFFER(j)	(state[j] == ACTIVE)
#endif

/* A member has the text of other rules, or takes its offer back. Rules 0 are none. */
#if RULES
#define ASK(j)		asked = asked | BIT(j)
#define OFFER(j, k) \
	:: d_step { UP(j) && HAS(RULES, j) && k <= KINDS && offers > 0 && MAY_OFFER(j) && \
		    offer[j] != k && (!k || rules[j] != k) -> \
		    offers--; offer[j] = k; show_row(j); news(j); skip }
#else
#define ASK(j)		skip
#define OFFER(j, k)
#endif

#define ONE(j) \
	:: d_step { UP(j) && HAS(due, j) -> pass(j); skip } \
	:: d_step { UP(j) && HAS(SENDERS, j) && MAY_SEND(j) && !HAS(got[j], j) -> \
		    receive(j, j); skip } \
	:: d_step { UP(j) && crashes > 0 -> \
		    crashes--; crashed = crashed | BIT(j); news(j); skip } \
	:: d_step { UP(j) && HAS(LEAVERS, j) && !HAS(leaving, j) && state[j] == ACTIVE -> \
		    leaving = leaving | BIT(j); news(j); skip } \
	:: d_step { UP(j) && wishes > 0 && state[j] == ACTIVE && \
		    LOWEST(ELECTORATE(j) & ~suspected[j]) == j -> \
		    wishes--; ASK(j); state[j] = WEDGED; show_row(j); news(j); skip } \
	OFFER(j, 0) \
	OFFER(j, 1) \
	OFFER(j, 2) \
	/* All connections of a suspect, or of a former member, are closed. */ \
	:: d_step { UP(j) && (SHUT(j, 0) || SHUT(j, 1) || SHUT(j, 2) || SHUT(j, N - 1)) -> \
		    stop(j); news(j); skip }

#define SHUT(j, i)	(!HAS(DOWN, i) && \
			 (HAS(suspected[i], j) || (vid[i] > vid[j] && !HAS(members[vid[i]], j))))

/* Suspects and former members are shown nothing. */
#define TWO(j, i) \
	:: d_step { FOLLOWS(j, i) && place[(j) * N + (i)] + 1 < versions[i] && \
		    HAS(members[ROW_VID(NEXT(j, i))], j) && \
		    !HAS(ROW_SUSPECTED(NEXT(j, i)), j) && FLUSHED(j, i) -> \
		    place[(j) * N + (i)]++; news(j); skip } \
	:: d_step { UP(j) && HAS(SENDERS, i) && vid[i] == vid[j] && HAS(got[i], i) && \
		    !HAS(got[j], i) && MAY_GET(j, i) && !HAS(suspected[i], j) -> \
		    receive(j, i); skip } \
	:: d_step { UP(j) && HAS(members[vid[j]], i) && !HAS(suspected[j], i) && \
		    (HAS(DOWN, i) || doubts > 0) && (state[j] < COMMITTED || \
		    QUORUM(j, members[vid[j]] & ~suspected[j] & ~BIT(i))) -> doubt(j, i); skip }

active proctype world()
{
	d_step {
		members[0] = ALL;
		for (a : 0 .. N - 1) {
			versions[a] = 1
		};
		skip
	}
	/* Faults that never happen are no reason to go on. */
	do
	:: crashes < CRASHES -> crashes++
	:: break
	od;
	do
	:: doubts < DOUBTS -> doubts++
	:: break
	od;
	do
	:: wishes < WISHES -> wishes++
	:: break
	od;
#if RULES
	do
	:: offers < OFFERS -> offers++
	:: break
	od;
#endif
	started_doubts = doubts;

	do
	ONE(0)
	ONE(1)
	ONE(2)
	TWO(0, 1)
	TWO(0, 2)
	TWO(1, 0)
	TWO(1, 2)
	TWO(2, 0)
	TWO(2, 1)
#if N > 3
	ONE(3)
	TWO(0, 3)
	TWO(1, 3)
	TWO(2, 3)
	TWO(3, 0)
	TWO(3, 1)
	TWO(3, 2)
#endif
	:: timeout -> break
	od;
	skip;
	d_step {
		quiet(0);
		quiet(1);
		quiet(2);
#if N > 3
		quiet(3);
#endif
		assert(2 * (WEIGHT(crashed) + started_doubts) >= WEIGHT(ALL & ~leaving) ||
		       WEIGHT(stopped & ~leaving) <= started_doubts)
	}
}
