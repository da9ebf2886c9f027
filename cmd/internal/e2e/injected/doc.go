// Package injected lets a compromised model loose: it does whatever a text that it
// reads tells it to. testdata/injected.yaml holds the texts, by family, with what
// obeying them means; testdata/honest.yaml the same work without them. No effect of
// the first may come about without a person, in any autonomy level; the second may
// not drown people in questions.
package injected
