package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
)

// maxClimbs is the largest share of the arrows between a folder's files that
// may go back up, in percent; folders with few arrows are not judged.
const (
	maxClimbs = 10
	fewArrows = 20
)

// climb counts the arrows between the files of a package: a file has an arrow
// to another one if any of its functions calls one that stands there.
type climb struct {
	arrows int
	back   int // of these, the ones against the best order of the files
	// examples names the ones that go back, "child.go → parent.go".
	examples []string
}

// judgeClimbs finds packages in which too many arrows go back up.
func judgeClimbs(climbs map[string]climb) []string {
	var findings []string
	for path, c := range climbs {
		if c.arrows >= fewArrows && c.back*100 >= c.arrows*maxClimbs {
			findings = append(findings, fmt.Sprintf("%s: in %d of %d cases a file calls back up (%s), fewer than one in ten may", path, c.back, c.arrows, strings.Join(c.examples, ", ")))
		}
	}
	return findings
}

// climbOf puts the files of a package into the order in which as few arrows as
// the search finds go back up, and counts those that still do.
func climbOf(p room) climb {
	calls := callsBetween(p)
	order := arrange(p, calls)
	place := map[string]int{}
	for i, name := range order {
		place[name] = i
	}
	var c climb
	for from, to := range calls {
		for callee := range to {
			c.arrows++
			if place[callee] < place[from] {
				c.back++
				c.examples = append(c.examples, filepath.Base(from)+" → "+filepath.Base(callee))
			}
		}
	}
	slices.Sort(c.examples)
	return c
}

// callsBetween has an entry for every file that calls another one, with a 1
// for each of those. A function that is passed on as a value counts as called.
func callsBetween(p room) map[string]map[string]int {
	fileOf := func(pos token.Pos) string { return p.typed.Fset.Position(pos).Filename }
	calls := map[string]map[string]int{}
	for _, f := range p.files {
		from := fileOf(f.syntax.Package)
		calls[from] = map[string]int{}
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			id, is := n.(*ast.Ident)
			if !is {
				return true
			}
			callee, is := p.typed.TypesInfo.Uses[id].(*types.Func)
			if !is || callee.Pkg() != p.typed.Types || abstract(callee) {
				return true
			}
			if to := fileOf(callee.Pos()); to != from {
				calls[from][to] = 1
			}
			return true
		})
	}
	return calls
}

// abstract reports whether a method belongs to an interface: a call through a
// contract has no direction.
func abstract(f *types.Func) bool {
	recv := f.Signature().Recv()
	return recv != nil && types.IsInterface(recv.Type())
}

// arrange is an order of the files with few calls against it: it begins with
// those that call more than they are called, and then moves single files to
// where they cost least until nothing gets better.
func arrange(p room, calls map[string]map[string]int) []string {
	var order []string
	weight := map[string]int{}
	for _, f := range p.files {
		name := p.typed.Fset.Position(f.syntax.Package).Filename
		order = append(order, name)
		for to, n := range calls[name] {
			weight[name] += n
			weight[to] -= n
		}
	}
	slices.SortFunc(order, func(a, b string) int { return cmp.Or(cmp.Compare(weight[b], weight[a]), cmp.Compare(a, b)) })
	for better := true; better; {
		better = false
		for _, name := range slices.Clone(order) {
			if moved, gain := sift(order, name, calls); gain > 0 {
				order, better = moved, true
			}
		}
	}
	return order
}

// sift moves one file to its best place; gain is how many calls fewer go back up.
func sift(order []string, name string, calls map[string]map[string]int) (moved []string, gain int) {
	at := slices.Index(order, name)
	best := at
	for _, step := range []int{-1, 1} {
		sum := 0
		for i := at + step; i >= 0 && i < len(order); i += step {
			other := order[i]
			// Passing other from below turns calls of name to other into ones that
			// go down no more, and those of other to name the other way about.
			sum += step * (calls[other][name] - calls[name][other])
			if sum > gain {
				gain, best = sum, i
			}
		}
	}
	moved = slices.Insert(slices.Delete(slices.Clone(order), at, at+1), best, name)
	return moved, gain
}
