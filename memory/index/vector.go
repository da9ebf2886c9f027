package index

import (
	"cmp"
	"math"
	"slices"
)

// SetVector gives a record its vector, whose length becomes one. A vector of
// another dimension than the others empties them all: the model is another one.
func (x *Index) SetVector(key string, v []float32) {
	if len(v) == 0 {
		return
	}
	if x.width != len(v) {
		for _, d := range x.docs {
			d.vector = nil
		}
		x.width = len(v)
	}
	if n, is := x.numbers[key]; is {
		x.docs[n].vector = Normal(v)
	}
}

// HasVector reports whether the record has one.
func (x *Index) HasVector(key string) bool {
	n, is := x.numbers[key]
	return is && x.docs[n].vector != nil
}

// Width is the dimension of the vectors, 0 without any.
func (x *Index) Width() int { return x.width }

// Normal is a vector of the same direction and the length one.
func Normal(v []float32) []float32 {
	sum := 0.0
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return make([]float32, len(v))
	}
	scale := float32(1 / math.Sqrt(sum))
	normal := make([]float32, len(v))
	for i, f := range v {
		normal[i] = f * scale
	}
	return normal
}

// dot is the inner product, of normal vectors their cosine.
func dot(a, b []float32) float64 {
	var s0, s1, s2, s3 float32
	i := 0
	for ; i+4 <= len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	for ; i < len(a); i++ {
		s0 += a[i] * b[i]
	}
	return float64(s0 + s1 + s2 + s3)
}

// withMeaning fuses what was found by words with the nearest vectors, by
// reciprocal rank. The best possible relevance is 1.
func (x *Index) withMeaning(byWords []candidate, a Ask) []candidate {
	if len(a.Vector) != x.width {
		return byWords
	}
	at := map[int32]int{}
	list := byWords
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.hit.Parts.Relevance, a.hit.Parts.Relevance), cmp.Compare(a.number, b.number))
	})
	for i, c := range list {
		at[c.number] = i
	}
	near := x.nearest(Normal(a.Vector), a)
	for _, n := range near {
		if _, is := at[n.number]; !is {
			at[n.number] = len(list)
			list = append(list, n)
		}
	}
	for i := range list {
		list[i].hit.Parts.Relevance = 0
		if i < min(len(byWords), fused) {
			list[i].hit.Parts.Relevance = 1 / float64(fusionRank+i+1)
		}
	}
	for rank, n := range near {
		c := &list[at[n.number]]
		c.meaning = n.meaning
		c.hit.Parts.Relevance += 1 / float64(fusionRank+rank+1)
	}
	for i := range list {
		list[i].hit.Parts.Relevance *= (fusionRank + 1) / 2.0
	}
	return list
}

// nearest are the documents whose vectors are nearest, the nearest first: an
// exact scan.
func (x *Index) nearest(v []float32, a Ask) []candidate {
	var list []candidate
	for _, n := range x.numbers {
		d := x.docs[n]
		if d.vector != nil && x.counts(d, a) {
			list = append(list, candidate{doc: d, number: n, meaning: dot(v, d.vector)})
		}
	}
	slices.SortFunc(list, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.meaning, a.meaning), cmp.Compare(a.number, b.number))
	})
	return list[:min(len(list), fused)]
}
