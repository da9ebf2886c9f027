// Command house measures the tree against the rules that ARCHITECTURE.md and
// CONTRIBUTING.md state and that no linter knows: how large rooms may get,
// which imports go down, and how many arrows inside a folder climb back up.
//
//	house [DIR]           the findings, one a line; exit 1 if there are any
//	house -figures [DIR]  beside them, a row of figures a package
//
// What lives here: tree.go reads packages, room.go judges sizes, floor.go the
// imports against the table in ARCHITECTURE.md, climb.go the calls.
// Formatting and style are golangci-lint's.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
)

func main() {
	figures := flag.Bool("figures", false, "print a row of figures a package")
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	findings, err := inspect(dir, *figures)
	if err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(2)
	}
	for _, f := range findings {
		fmt.Println(f)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// inspect is everything that the tree at dir breaks, in words that name the place.
func inspect(dir string, figures bool) ([]string, error) {
	tree, err := readTree(dir, everything)
	if err != nil {
		return nil, err
	}
	findings := judgeRooms(tree)
	floors, err := checkFloors(tree, dir)
	if err != nil {
		return nil, err
	}
	findings = append(findings, floors...)
	climbs := map[string]climb{}
	for _, p := range tree {
		climbs[p.path] = climbOf(p)
	}
	findings = append(findings, judgeClimbs(climbs)...)
	if figures {
		printFigures(tree, climbs)
	}
	slices.Sort(findings)
	return findings, nil
}

// printFigures prints a package's files, lines, largest type and climbing calls.
func printFigures(tree []room, climbs map[string]climb) {
	fmt.Printf("%-40s %5s %6s %8s %6s %6s\n", "package", "files", "lines", "methods", "arrows", "back")
	var all climb
	for _, p := range tree {
		c := climbs[p.path]
		all.arrows, all.back = all.arrows+c.arrows, all.back+c.back
		_, most := p.largestType()
		fmt.Printf("%-40s %5d %6d %8d %6d %6d\n", p.path, len(p.files), p.lines(), most, c.arrows, c.back)
	}
	fmt.Printf("%-40s %5s %6s %8s %6d %6d\n", "all", "", "", "", all.arrows, all.back)
}
