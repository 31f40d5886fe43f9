/* One action from staging to its end: a human who reads, approves, rejects and withdraws, an agent that edits, two
 * executors that may sleep or die anywhere, leases that end, and what looks into an unknown outcome.
 *
 * Mirrors, below packages/core/src/assent, gate/transitions.py (the table), engine/actions/execution.py (claim, call, record),
 * engine/actions/reconciliation.py and engine/actions/decisions.py. A transaction is an atomic step; a call to the
 * provider is not.
 *
 * Choose how the provider helps with one of -DNATIVE_KEY, -DREAD_BACK, -DNO_HELP, and a broken design with one of
 * -DRETRY_THROUGH_APPROVED, -DCHECK_THEN_SET, -DBLIND_RETRY, -DAPPROVAL_WITHOUT_DIGEST, -DEDIT_KEEPS_APPROVAL,
 * -DUNLEASED_REPETITION.
 *
 * -DRESTORED begins with a store that was restored from a backup, after which the action was sent: the store does not
 * know of it. The restore marks the action (engine/actions/doubts.py); -DUNMARKED is the broken design without the mark.
 */

#ifdef RESTORED
#define EDITS 0
#define SENT 1
#else
#define EDITS 1
#define SENT 0
#endif
#define TRIES 2
#define REPETITIONS 1

mtype:status = { awaiting, approved, rejected, executed, failed };
mtype:execution = { none, executing, unknown, retryable, done };
mtype:outcome = { delivered, not_sent, refused, lost };

mtype:status status = awaiting;
mtype:execution execution = none;

byte content = 1;          /* what would be sent: its digest, and with it the revision and the provider's key */
byte approval = 0;         /* the content that the standing approval covers, 0 for none */
byte attempt = 0;          /* the attempt that holds the action */
byte attempts = 0;
byte fence = 0;            /* grows with every call that may be on its way */
bool leased = false;       /* nobody else touches what a living process is calling about */
#if defined(RESTORED) && !defined(UNMARKED) && !defined(NATIVE_KEY)
bool doubted = true;       /* may have been sent after the backup, and the provider would not recognise a repetition */
#else
bool doubted = false;
#endif

/* What nobody in the server can see. */
byte consent = 0;          /* the content that the human read and has not taken back */
bool happened[EDITS + 2] = SENT;   /* effects by content */
byte effects = SENT;
byte in_flight = 0;

#define closed      (status == rejected || status == executed || status == failed)
#define undecided   (status == awaiting)
#define waiting     (status == approved && (execution == none || execution == retryable))

#ifdef BLIND_RETRY
#define claimable   ((waiting || execution == unknown) && approval == content)
#else
#define claimable   (waiting && approval == content)
#endif

/* P5: nothing leaves a closed state. */
inline move(s, e)
{
	assert(!closed);
	status = s;
	execution = e
}

inline take_back()
{
	approval = 0;
	consent = 0;
	attempt = 0
}

/* P1: what happens is what the human read and said yes to. C30: it happens once. */
inline effect(what)
{
	assert(consent == what);
#ifdef NATIVE_KEY
	if
	:: happened[what]          /* the provider recognises the key */
	:: else -> effects++; happened[what] = true
	fi;
#else
	effects++;
	happened[what] = true;
#endif
	assert(effects <= 1)
}

/* P2: at most one call at a time. */
inline begin_call()
{
	in_flight++;
	assert(in_flight == 1)
}

active proctype Human()
{
	byte looked;

end:	do
	:: undecided ->
		looked = content;
		atomic {
			if
#ifdef APPROVAL_WITHOUT_DIGEST
			:: undecided ->
#else
			:: undecided && looked == content ->
#endif
				move(approved, none);
				approval = content;
				consent = looked
			:: else
			fi
		}
	:: atomic { waiting -> move(awaiting, none); take_back() }
	:: atomic { undecided || waiting -> move(rejected, none); take_back() }
	:: atomic { execution == unknown && !leased ->      /* looks at the provider and says what is there */
		if
		:: happened[content] -> move(executed, done)
		:: else -> move(approved, retryable)
		fi
	   }
	od
}

active proctype Agent()
{
	byte edits = 0;

	do
	:: edits == EDITS -> break
	:: atomic { edits < EDITS && (undecided || waiting) ->
		edits++;
		content++;
#ifdef EDIT_KEEPS_APPROVAL
		consent = 0;
		if
		:: approval != 0 -> approval = content
		:: else
		fi
#else
		move(awaiting, none);
		take_back()
#endif
	   }
	:: closed -> break
	od
}

active [2] proctype Executor()
{
	byte mine;
	byte my_fence;
	byte sending;
	byte tries = 0;
	mtype:outcome heard;

	do
	:: tries == TRIES -> break
	:: tries < TRIES ->
		tries++;
#ifdef CHECK_THEN_SET
		if
		:: claimable
		:: else -> goto again
		fi;
		atomic {
			if
			:: status == approved
			:: else -> goto again
			fi;
#else
		atomic {
			if
			:: claimable
			:: else -> goto again
			fi;
#endif
			attempts++;
			mine = attempts;
			attempt = mine;
			if
			:: doubted ->      /* nothing is sent: the provider is asked, or the human */
				doubted = false;
				move(approved, unknown);
				goto again
			:: else
			fi;
			fence++;
			my_fence = fence;
			leased = true;
			sending = content;
			move(approved, executing)
		}
		if
		:: goto dead           /* killed after the claim */
		:: skip
		fi;
		atomic {               /* a process that slept past its lease has lost it, and sends nothing */
			if
			:: attempt == mine && fence == my_fence && leased -> begin_call()
			:: else -> heard = not_sent; goto record
			fi
		}
		if
		:: atomic { effect(sending); heard = delivered }
		:: atomic { effect(sending); heard = lost }
		:: heard = lost
		:: heard = not_sent
		:: heard = refused
		fi;
		in_flight--;
		if
		:: goto dead           /* killed before the outcome is written down */
		:: skip
		fi;
record:		atomic {
			if
			:: attempt != mine || fence != my_fence    /* kept as evidence */
			:: attempt == mine && fence == my_fence ->
				if
				:: execution == executing ->
					leased = false;
					if
					:: heard == delivered -> move(executed, done)
					:: heard == not_sent -> move(approved, retryable)
					:: heard == refused -> move(failed, done)
					:: heard == lost -> move(approved, unknown)
					fi
				:: (execution == unknown || execution == retryable) && heard == delivered ->
					move(executed, done)
				:: execution == unknown && heard == not_sent -> move(approved, retryable)
				:: execution == unknown && heard == refused -> move(failed, done)
				:: else
				fi
			fi
		}
again:		skip
	od;
dead:	skip
}

/* A lease is longer than a call may take. */
active proctype Clock()
{
end:	do
	:: atomic { leased && in_flight == 0 -> leased = false }
	od
}

active proctype Reconciler()
{
	byte mine;
	byte my_fence;
	byte sending;
	byte repetitions = 0;

end:	do
	:: atomic { execution == executing && !leased ->
#ifdef RETRY_THROUGH_APPROVED
		move(approved, none)
#else
		move(approved, unknown)
#endif
	   }
#ifdef READ_BACK
	:: atomic { execution == unknown ->
		if
		:: happened[content] -> move(executed, done)
		:: else -> move(approved, retryable)
		fi
	   }
#endif
#ifdef NATIVE_KEY
#ifdef UNLEASED_REPETITION
	:: atomic { repetitions < REPETITIONS && execution == unknown ->
		repetitions++;
		mine = attempt;
		sending = content;
		begin_call()
	   };
#else
	:: atomic { repetitions < REPETITIONS && execution == unknown && !leased ->
		repetitions++;
		fence++;
		my_fence = fence;
		leased = true;
		mine = attempt;
		sending = content;
		begin_call()
	   };
#endif
		if
		:: atomic { effect(sending);
			in_flight--;
			if
			:: attempt == mine && (execution == unknown || execution == retryable) -> move(executed, done)
			:: else
			fi
		   }
		:: atomic { effect(sending); in_flight-- }     /* killed, or lost again */
		:: in_flight--         /* asking again was refused: that says nothing about the first time */
		fi
#endif
	od
}

/* P4: when nobody can do anything more, no action is left in the middle. */
active proctype Afterwards()
{
	timeout ->
	assert(execution != executing);
	assert(!(status == executed) || effects == 1)
}
