package agent

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// This file holds the contract of the store, which the floors above implement.

// Store errors. ErrConflict: the lease is gone or its turn was taken. ErrStale:
// a Strict commit has not seen the newest event. ErrBudget: a counter would
// pass its limit (see BudgetError). ErrSeen: a Once key was used before.
// ErrBusy: another attempt holds a Once key and may be written yet.
// ErrLost, which is an ErrStale, too: what the writer had folded is not in the
// journal (any more). In all of them nothing was written.
var (
	ErrConflict = errors.New("another worker holds the strand")
	ErrStale    = errors.New("the run has newer events")
	ErrBudget   = errors.New("over the limit")
	ErrSeen     = errors.New("seen before")
	ErrLost     = fmt.Errorf("what was folded is not in the journal: %w", ErrStale)
	ErrBusy     = errors.New("somebody else may be writing the same down just now: try again")
	ErrNoRun    = errors.New("no such run")
	ErrNoBlob   = errors.New("no such artifact")
)

// ErrPermanent is wrapped by errors of the store that sending the same again
// does not mend: a commit that is malformed or does not encode, a right that is
// missing, a key of another type, a script that fails. All other errors but the
// refusals above may pass (the network, a server that loads, is full or changes
// its master, a full disk): what they stopped is sent again.
var ErrPermanent = errors.New("sending it again does not help")

// Permanent reports whether an error of the store lasts: ErrPermanent, or a
// journal that is damaged.
func Permanent(err error) bool { return errors.Is(err, ErrPermanent) || errors.Is(err, ErrDamaged) }

// BudgetError names the counter that a commit would have pushed over its limit.
type BudgetError struct{ Counter string }

func (e *BudgetError) Error() string { return e.Counter + ": " + ErrBudget.Error() }

// Unwrap makes errors.Is(err, ErrBudget) true.
func (e *BudgetError) Unwrap() error { return ErrBudget }

// EntryError says which journal entry could not be read; Err wraps ErrDamaged
// or ErrNewer.
type EntryError struct {
	Run RunID
	Seq uint64
	Err error
}

func (e *EntryError) Error() string {
	return "journal of run " + string(e.Run) + ", entry " + strconv.FormatUint(e.Seq, 10) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *EntryError) Unwrap() error { return e.Err }

// ExtendError says which leases a store could not extend, as the part of it that
// keeps them does not answer. They are good until their time runs out.
type ExtendError struct {
	Leases []Lease
	Err    error
}

func (e *ExtendError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ExtendError) Unwrap() error { return e.Err }

// Wake-up times with a meaning of their own.
var (
	// AtOnce makes a strand due immediately.
	AtOnce = time.Unix(0, 0).UTC()
	// Parked takes a strand off the clock until somebody wakes it.
	Parked = time.Time{}
)

// Lease is the right to work one strand until the store's lease time is over.
type Lease struct {
	Run    RunID
	Strand StrandID
	Epoch  uint64    // +1 with every claim: fences
	Turn   uint64    // commits made under leases of this strand so far
	At     time.Time // the store's clock at the claim
	// Since is this process's clock right before the store gave the lease: a
	// lease time after it the lease has run out at the earliest, however late
	// its reply came.
	Since time.Time
	// Head is the journal's newest event at the claim: whoever has folded
	// exactly that need not read. Zero: the store did not say.
	Head Receipt
}

// Spend adds Nano (any unit: billionths of a dollar, tokens, steps) to a
// counter. Limit 0 is none; over the limit nothing of the commit is written.
// A counter starts at 0. Negative amounts give back.
type Spend struct {
	Counter string
	Nano    int64
	Limit   int64
}

// Commit is one atomic write to one run's journal. A run begins with a commit
// whose first event is run.started; any other to a run without events is
// ErrNoRun, and nothing is written.
type Commit struct {
	// ID is random per attempt. A commit whose ID was the last one at this
	// lease's turn (or, without a lease, was ever accepted) is a success and
	// returns the first receipt; this is compared before anything else.
	ID  string
	Run RunID
	// Lease nil: a fact from outside, appended always.
	Lease *Lease
	// Seen is the last seq that the writer had folded. A release where the
	// journal ends elsewhere makes the strand due at once instead: there is
	// something new, or the store lost its newest events. SeenAll: whatever
	// there is, nothing is news.
	Seen uint64
	// SeenAt is the stamp of the event at Seen: a server that was killed, or a
	// replica that took its place, may have lost it, and others may have
	// written in its place since. A commit that was decided on such a fold is
	// refused with ErrLost. Zero: not compared.
	SeenAt time.Time
	// Strict refuses with ErrStale when the journal does not end at Seen.
	Strict bool
	Events []Event // Strand and Body are read; Run, Seq and At are set by the store
	// Wake sets due times. For the lease's own strand an entry releases the
	// lease (Parked: until somebody wakes it); without one the lease is kept
	// and extended. Other strands become due at the earlier of the old and the
	// new time; strands under somebody's lease are left alone (their release
	// notices the newer events).
	Wake  map[StrandID]time.Time
	Spend []Spend
	// Once holds keys that may be used one time (message ids, cron ticks); they
	// are known for 8 days.
	Once []string
	// Anchor is what the once-keys belong to: the thread of a message, the
	// schedule of a turn. Whoever uses a key again must name the same anchor,
	// or none both times. A store of several parts writes them in one with the
	// run where that has the same anchor (Store.NewRun).
	Anchor string
	// Set gives names their newest value, with the commit or not at all. Names
	// are of the whole store, not of the run: "thread/slack:T1:C1:17.2" says
	// which run lives in a thread.
	Set map[string]string
	// Ends marks the run as ended: its strands but Voice are dropped, and its
	// retention starts.
	Ends bool
}

// SeenAll as Commit.Seen is for writers that did not fold the run.
const SeenAll = math.MaxUint64

// Receipt is a commit's place in the journal: Seq of its last event (of the
// journal's last event where it had none), and the store's clock, which is the
// At of its events. Before is the stamp of the journal's newest event before
// the commit: who knows an event by its seq and stamp knows all before it. It
// is zero where there was none, and for an attempt that was accepted before.
type Receipt struct {
	Seq    uint64
	At     time.Time
	Before time.Time
}

// Store is the engine: journals, strands with due times, counters and
// once-keys, in one atomic commit. Clocks are the store's own. Everything may
// be called from many goroutines.
type Store interface {
	// Commit returns ErrConflict, ErrStale, ErrBudget (a *BudgetError), ErrSeen
	// or ErrLost, or an error of the connection, after which the same commit may
	// be sent again.
	Commit(ctx context.Context, c Commit) (Receipt, error)
	// Read returns the events after the seq, in order. An entry that cannot be
	// read ends the list with an *EntryError; the events before it are
	// returned with it. An unknown run has no events: ErrNoRun.
	Read(ctx context.Context, run RunID, after uint64) ([]Event, error)
	// Claim takes up to n due strands, waiting up to wait for the first. An
	// empty only means any run. None due is no error.
	Claim(ctx context.Context, n int, wait time.Duration, only RunID) ([]Lease, error)
	// Extend keeps leases for another lease time and returns those that are
	// gone. An *ExtendError says which could not be asked for: all others were
	// extended or are gone. After any other error nothing is known.
	Extend(ctx context.Context, l []Lease) (lost []Lease, err error)
	// NewRun is an id for a run that begins at the anchor (see Commit.Anchor and
	// AnchorOf): in a store of several parts it is in the same as the anchor's
	// names and once-keys, so that all are one atomic write.
	NewRun(anchor string) RunID
	Clock
}

// Clock is the time that leases, due times and stamps go by: the store's, which
// all processes share and which does not go back. Whatever several processes
// must agree on (schedules, check-ins, expiry, alerts) asks it instead of the
// clock of the process.
type Clock interface {
	Now(ctx context.Context) (time.Time, error)
}

// Archive is the part of a store that looks over all runs and keeps what is
// not an event.
type Archive interface {
	Listing
	Snapshots
	Artifacts
	News
	Names
	Pacing
	// Expire removes runs that ended before the time, with their snapshots,
	// artifacts, counters and names, and returns how many. It also forgets what
	// belongs to no run and is too old: once-keys, and counters that did not
	// change for two months.
	Expire(ctx context.Context, endedBefore time.Time) (int, error)
	// Spent returns a counter's value, 0 for one that never was.
	Spent(ctx context.Context, counter string) (int64, error)
}

// Listing is the part of an Archive that looks runs up.
type Listing interface {
	// Runs lists runs, the one that started last first; with EndedAfter first
	// the live ones like that, and then the others, the one that ended last
	// first. What it costs goes by the length of the list, not by how many runs
	// there are.
	Runs(ctx context.Context, f RunFilter) ([]RunInfo, error)
	// CountRuns is how many runs Runs would list if nothing bounded it. Only is
	// not looked at.
	CountRuns(ctx context.Context, f RunFilter) (int, error)
}

// Snapshots are the folds that are kept, one a run.
type Snapshots interface {
	// Snapshot returns the newest fold that was kept, and the seq it stands at;
	// seq 0: there is none.
	Snapshot(ctx context.Context, run RunID) (seq uint64, data []byte, err error)
	// KeepSnapshot keeps a fold. An older one than the kept is ignored.
	KeepSnapshot(ctx context.Context, run RunID, seq uint64, data []byte) error
}

// Artifacts are the contents that runs keep beside their events.
type Artifacts interface {
	// PutBlob keeps an artifact of a run and returns its content hash (SHA-256,
	// hex). ErrNoRun: the run is gone.
	PutBlob(ctx context.Context, run RunID, data []byte) (hash string, err error)
	// Blob returns an artifact of the run, or ErrNoBlob.
	Blob(ctx context.Context, run RunID, hash string) ([]byte, error)
}

// News waits for what others write into a journal.
type News interface {
	// Await returns when the run's journal is longer than after, or ctx ends.
	Await(ctx context.Context, run RunID, after uint64) error
	// AwaitWord is Await for those who care only for words that may end work
	// under way (see IsWord): it may return for any news, and now and then
	// without. Waiting writes nothing.
	AwaitWord(ctx context.Context, run RunID, after uint64) error
}

// Pacing is how all processes of a store keep to rates together.
type Pacing interface {
	// Take asks for one turn at a pace that all processes of the store share
	// (the generic cell rate algorithm). Zero: the turn is taken. Else nothing
	// is taken and the answer says when to ask again, unless Book is set: then
	// the turn is taken and is that far ahead.
	Take(ctx context.Context, p Pace) (wait time.Duration, err error)
	// Admit returns zero where the call may be made; else it says when to ask again.
	Admit(ctx context.Context, a Admission) (wait time.Duration, err error)
}

// Names are the names of a store with their values (Commit.Set).
type Names interface {
	// Value is the newest value of a name, empty if it has none.
	Value(ctx context.Context, name string) (string, error)
	// Values lists the names that begin with the prefix, with their values.
	Values(ctx context.Context, prefix string) (map[string]string, error)
	// SetValue gives a name a value outside a commit; an empty one removes it.
	// A name goes with a run where its value is the run's id, or that and more
	// behind a slash, and where it begins like OfRun says.
	SetValue(ctx context.Context, name, value string) error
}

// Pace is how often something may be done: once each Every on average, Burst
// times in a row. Leave turns stay for others that ask without it.
type Pace struct {
	Name  string
	Every time.Duration
	Burst int
	Leave int
	Book  bool
}

// Admission asks for one call of an endpoint whose limits all processes of the
// store share. Who has to wait keeps a place in the endpoint's line for as long
// as it asks again when it was told to: people's runs stand before background
// ones, and the runs of either take turns, however many strands each has.
type Admission struct {
	Endpoint string
	Run      RunID
	// Strand is empty where nobody asks: then the charges are booked alone.
	Strand     StrandID
	Background bool
	Charges    []Charge
}

// Charge is a call's share of one limit, in the time in which the limit lets so
// much through: a limit of 600 a minute gives a call each 100 ms. What was taken
// is earned as time passes (the generic cell rate algorithm, as for a Pace).
type Charge struct {
	Limit string        // "requests"
	Takes time.Duration // 0 or less gives back, whether the call is admitted or not
	Ahead time.Duration // how much may be taken before it is earned
	Hold  time.Duration // nobody is admitted for so long
}

// Member names a strand in an endpoint's line.
func (a Admission) Member() string { return string(a.Run) + "/" + string(a.Strand) }

// The bounds of an endpoint's line.
const (
	// MaxAdmissionWait is the longest time that is told: who waits longer asks
	// in between.
	MaxAdmissionWait = 30 * time.Second
	// AdmissionGrace is how late somebody may come without losing the place.
	AdmissionGrace = 3 * time.Second
	// MaxAdmissionDebt bounds what is taken ahead, so that neither a mistaken
	// call nor a clock that was set back closes an endpoint for long.
	MaxAdmissionDebt = 10 * time.Minute
)

// Records keep small pieces of data under ids, in the order in which they were
// written: what Deckhand remembers (package agent/records) and what is worked
// out from it. Whoever holds a copy reads what was written since.
type Records interface {
	// WriteRecords applies all writes whose condition holds, in one step or not
	// at all, and says of each whether it was applied.
	WriteRecords(ctx context.Context, writes []RecordWrite) (applied []bool, err error)
	// ReadRecords returns the records that were written after the seq, in the
	// order of their last writes, at most so many (0: all), and where the store stands.
	ReadRecords(ctx context.Context, after uint64, most int) ([]RecordRow, RecordState, error)
}

// RecordWrite puts data under an id. Without data the record is removed: its
// row stays, empty.
type RecordWrite struct {
	ID   string
	Data []byte
	// Seen is the seq of the row that it replaces, 0 where there must be none,
	// also none that is empty. AnyRecord: whatever there is.
	Seen uint64
}

// AnyRecord as RecordWrite.Seen replaces whatever there is.
const AnyRecord = math.MaxUint64

// RecordRow is a record as it was last written. Without data it was removed.
type RecordRow struct {
	ID   string
	Seq  uint64 // grows with every write of the store
	Data []byte
}

// RecordState is where a store stands: the seq of its newest write, and how many
// records it has that are not removed. A holder of a copy that has another number
// reads anew: the store lost something.
type RecordState struct {
	Head uint64
	Live int
}

// Kept is one event as its store keeps it: the bytes of its body are those that
// were written, whatever build reads them.
type Kept struct {
	Seq     uint64
	Strand  StrandID
	At      time.Time
	Kind    Kind
	Version int
	Body    []byte
}

// Trail is a list of lines of the whole store that only grows; package
// agent/audit makes a hash chain of them. Lines count from 1.
type Trail interface {
	// AppendTrail adds lines behind the last one, all or none, where that is
	// line number after; else ErrStale.
	AppendTrail(ctx context.Context, after uint64, lines []string) error
	// TrailEnd is the number of the last line, 0: there is none.
	TrailEnd(ctx context.Context) (uint64, error)
	// ReadTrail returns up to n lines behind line number after, in order. A line
	// that is missing is an empty text.
	ReadTrail(ctx context.Context, after uint64, n int) ([]string, error)
	// CutTrail removes the lines up to the number, for good. The others keep
	// their numbers.
	CutTrail(ctx context.Context, upto uint64) error
	// ReadKept returns up to n events of the run's journal behind the seq. It
	// reads what Read does, without understanding it. ErrNoRun: the run is gone.
	ReadKept(ctx context.Context, run RunID, after uint64, n int) ([]Kept, error)
}
