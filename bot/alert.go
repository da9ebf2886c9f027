package bot

// Alert is something that did not happen and that administrators have to know of.
type Alert struct {
	ID   string // the same for the same trouble: it is told once
	Kind string // of trouble: schedule, run, check-in
	Text string // Markdown: what happened, to what, what to do next
}
