package code

// The language in the child: JavaScript without anything to reach out with.

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/dop251/goja"
	"github.com/dop251/goja/parser"
)

// Name of the program in positions, and how deep its calls may be nested.
const (
	scriptName   = "code.js"
	deepestCalls = 10_000
)

// script is one program in its own interpreter. The interpreter has the
// language's own objects, console and input, and nothing that reaches out.
type script struct {
	vm        *goja.Runtime
	w         *wire
	q         request
	stringify goja.Callable
}

func newScript(q request, w *wire) *script {
	s := &script{vm: goja.New(), w: w, q: q}
	// A comment in the program could otherwise name a file as its source map,
	// which the parser would open.
	s.vm.SetParserOptions(parser.WithDisableSourceMaps)
	s.vm.SetMaxCallStackSize(deepestCalls)
	return s
}

// interrupt makes the running program end with a reason.
func (s *script) interrupt(why string) { s.vm.Interrupt(why) }

// run runs the program and sends its value or its error.
func (s *script) run() {
	value, err := s.evaluate()
	if err != nil {
		s.w.fail(s.explain(err))
		return
	}
	s.w.end(value)
}

func (s *script) evaluate() (string, error) {
	if err := s.globals(); err != nil {
		return "", err
	}
	tree, err := goja.Parse(scriptName, s.q.Code, parser.WithDisableSourceMaps)
	if err != nil {
		return "", err
	}
	program, err := goja.CompileAST(tree, false)
	if err != nil {
		return "", err
	}
	value, err := s.vm.RunProgram(program) // promise jobs included
	if err != nil {
		return "", err
	}
	if value, err = s.settled(value); err != nil {
		return "", err
	}
	if value == nil || goja.IsUndefined(value) {
		return "", nil
	}
	return s.show(value)
}

// settled is what a promise came to, and any other value itself.
func (s *script) settled(v goja.Value) (goja.Value, error) {
	object, ok := v.(*goja.Object)
	if !ok || object.ExportType() != reflect.TypeFor[*goja.Promise]() {
		return v, nil // Export copies everything that an object holds
	}
	p, ok := object.Export().(*goja.Promise)
	if !ok {
		return v, nil
	}
	switch p.State() {
	case goja.PromiseStateFulfilled:
		return p.Result(), nil
	case goja.PromiseStateRejected:
		text, err := s.show(p.Result())
		return nil, errors.Join(fmt.Errorf("the promise was rejected: %s", text), err)
	case goja.PromiseStatePending:
	}
	return nil, errors.New("the promise is never settled: there are no timers and nothing to wait for")
}

// globals makes console and input.
func (s *script) globals() error {
	object := s.vm.Get("JSON").ToObject(s.vm)
	stringify, ok1 := goja.AssertFunction(object.Get("stringify"))
	parse, ok2 := goja.AssertFunction(object.Get("parse"))
	if !ok1 || !ok2 {
		return errors.New("the interpreter has no JSON")
	}
	s.stringify = stringify
	input := goja.Undefined()
	if len(s.q.Input) > 0 {
		var err error
		if input, err = parse(goja.Undefined(), s.vm.ToValue(string(s.q.Input))); err != nil {
			return err
		}
	}
	console := s.vm.NewObject()
	var errs []error
	for _, name := range []string{"log", "info", "warn", "error", "debug"} {
		errs = append(errs, console.Set(name, s.log))
	}
	return errors.Join(append(errs, s.vm.Set("console", console), s.vm.Set("input", input))...)
}

// log is console.log.
func (s *script) log(call goja.FunctionCall) goja.Value {
	parts := make([]string, 0, len(call.Arguments))
	for _, a := range call.Arguments {
		text, err := s.show(a)
		if err != nil {
			panic(s.vm.NewGoError(err))
		}
		parts = append(parts, text)
	}
	s.w.log(strings.Join(parts, " "))
	return goja.Undefined()
}

// show is a value as text: JSON for arrays and objects, plain else.
func (s *script) show(v goja.Value) (text string, err error) {
	if failed := s.vm.Try(func() {
		object, isObject := v.(*goja.Object)
		if !isObject || object.ClassName() == "Error" {
			text = v.String()
			return
		}
		j, e := s.stringify(goja.Undefined(), v)
		if e != nil {
			err = e
			return
		}
		if text = j.String(); goja.IsUndefined(j) {
			text = v.String() // a function
		}
	}); failed != nil {
		return "", failed
	}
	return text, err
}

// explain is an error with its line, and whether a limit was passed.
func (s *script) explain(err error) (text string, limit bool) {
	if i, ok := errors.AsType[*goja.InterruptedError](err); ok {
		// The interpreter maps the first instructions of a loop to the statement before it.
		return fmt.Sprint(i.Value()) + strings.Replace(at(i.Stack()), "(", "(near ", 1), true
	}
	if o, ok := errors.AsType[*goja.StackOverflowError](err); ok {
		return "its calls are nested deeper than " + strconv.Itoa(deepestCalls) + at(o.Stack()), true
	}
	e, ok := errors.AsType[*goja.Exception](err)
	if !ok {
		return strings.ReplaceAll(err.Error(), scriptName+": ", ""), false
	}
	text, failed := s.show(e.Value())
	if _, stopped := errors.AsType[*goja.InterruptedError](failed); stopped {
		return s.explain(failed)
	}
	if failed != nil {
		text = "an error that cannot be shown as text"
	}
	return text + at(e.Stack()), false
}

// at is the line of the innermost frame that lies in the program.
func at(stack []goja.StackFrame) string {
	for _, f := range stack {
		if p := f.Position(); f.SrcName() == scriptName && p.Line > 0 {
			return fmt.Sprintf(" (line %d, column %d)", p.Line, p.Column)
		}
	}
	return ""
}
