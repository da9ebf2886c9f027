package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// floorPlan says which packages of the module each package may import, as the
// table in ARCHITECTURE.md does.
type floorPlan []floorRow

// floorRow is one row: patterns are paths, "tools/..." is a folder and all below it.
type floorRow struct{ packages, may []string }

var (
	tableRow   = regexp.MustCompile(`^\|[^|]*\|([^|]*)\|[^|]*\|([^|]*)\|\s*$`)
	backquoted = regexp.MustCompile("`([^`]+)`")
)

// checkFloors holds the real imports against ARCHITECTURE.md in dir.
func checkFloors(tree []room, dir string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, "ARCHITECTURE.md"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	plan := readPlan(string(text))
	if len(plan) == 0 {
		return []string{"ARCHITECTURE.md: a table of the floors is missing (floor, package, owns, may import)"}, nil
	}
	var findings []string
	for _, p := range tree {
		row := plan.rowOf(p.path)
		if row == nil {
			findings = append(findings, p.path+": has no floor in ARCHITECTURE.md")
			continue
		}
		for _, imported := range p.imports {
			if !slices.ContainsFunc(row.may, func(pattern string) bool { return covers(pattern, imported) }) {
				findings = append(findings, p.path+": imports "+imported+", which ARCHITECTURE.md does not let it")
			}
		}
	}
	return append(findings, plan.unused(tree)...), nil
}

// readPlan reads the table whose head says "may import".
func readPlan(text string) floorPlan {
	var plan floorPlan
	inside := false
	for line := range strings.Lines(text) {
		cells := tableRow.FindStringSubmatch(strings.TrimSpace(line))
		switch {
		case cells == nil:
			inside = false
		case strings.TrimSpace(cells[2]) == "may import":
			inside = true
		case inside:
			if row := (floorRow{names(cells[1]), names(cells[2])}); len(row.packages) > 0 {
				plan = append(plan, row)
			}
		}
	}
	return plan
}

// names are the backquoted words of a table's cell.
func names(cell string) []string {
	var found []string
	for _, m := range backquoted.FindAllStringSubmatch(cell, -1) {
		found = append(found, m[1])
	}
	return found
}

// rowOf is the row of a package: the one with the longest pattern that covers it.
func (plan floorPlan) rowOf(path string) *floorRow {
	var row *floorRow
	longest := -1
	for i := range plan {
		for _, pattern := range plan[i].packages {
			if covers(pattern, path) && len(pattern) > longest {
				row, longest = &plan[i], len(pattern)
			}
		}
	}
	return row
}

// unused finds packages that the table names and the tree does not have.
func (plan floorPlan) unused(tree []room) []string {
	var findings []string
	for _, row := range plan {
		for _, pattern := range slices.Concat(row.packages, row.may) {
			known := slices.ContainsFunc(tree, func(p room) bool { return covers(pattern, p.path) })
			if finding := "ARCHITECTURE.md: there is no package " + pattern; !known && !slices.Contains(findings, finding) {
				findings = append(findings, finding)
			}
		}
	}
	return findings
}

// covers reports whether a pattern of the table means the package.
func covers(pattern, path string) bool {
	folder, below := strings.CutSuffix(pattern, "/...")
	return path == folder || below && strings.HasPrefix(path, folder+"/")
}
