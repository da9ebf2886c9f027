package ingest

import (
	"context"
	"maps"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNames are the names of a store that forgets.
type fakeNames struct {
	values map[string]string
	down   error // what every call says
}

func newFakeNames() *fakeNames { return &fakeNames{values: map[string]string{}} }

func (f *fakeNames) Value(_ context.Context, name string) (string, error) {
	return f.values[name], f.down
}

func (f *fakeNames) Values(_ context.Context, prefix string) (map[string]string, error) {
	if f.down != nil {
		return nil, f.down
	}
	list := maps.Clone(f.values)
	maps.DeleteFunc(list, func(name, _ string) bool { return !strings.HasPrefix(name, prefix) })
	return list, nil
}

func (f *fakeNames) SetValue(_ context.Context, name, value string) error {
	if f.down == nil {
		f.values[name] = value
	}
	return f.down
}
