// The race detector makes this test several times slower, and cannot find anything in it: the
// test reads source code in one goroutine.

//go:build !race

package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No mutex of the program is taken while another one is held, and no operation that can block (a
// channel, a file, the network, the log, the SDK) is done while one is held. So there can be no
// wrong order of locks, and nothing hangs for long.
//
// The test reads all of the module's source and follows the calls: through methods, interfaces, and
// functions that are kept in variables, fields and parameters or passed to the standard library.
// Another goroutine starts without locks. A turn, which is a channel with a capacity of one, may be
// held while a mutex is taken, but not the other way round.
func TestNoLockIsTakenUnderAnother(t *testing.T) {
	p := loadProgram(t, "../..", "./...")
	p.analyse()
	for _, problem := range p.problems() {
		t.Error(problem)
	}
	if len(p.locks) < 10 {
		t.Errorf("only %d mutexes were found", len(p.locks))
	}
}

// TestNestedLocksAreFound checks that the test above finds the mistakes that it looks for.
func TestNestedLocksAreFound(t *testing.T) {
	p := loadProgram(t, "testdata/locks", ".")
	p.analyse()
	found := p.problems()
	want := map[int]string{}
	for _, file := range p.files {
		for _, group := range file.Comments {
			for _, c := range group.List {
				if text, ok := strings.CutPrefix(c.Text, "// want: "); ok {
					want[p.fset.Position(c.Pos()).Line] = text
				}
			}
		}
	}
	for line, text := range want {
		at := fmt.Sprintf("locks.go:%d: ", line)
		if !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, at) && strings.Contains(f, text) }) {
			t.Errorf("line %d: %q was not found", line, text)
		}
	}
	if len(found) != len(want) {
		t.Errorf("%d problems were found, want %d:\n%s", len(found), len(want), strings.Join(found, "\n"))
	}
}

// program is the source of a module, and the effects of its functions on locks.
type program struct {
	fset  *token.FileSet
	root  string
	info  *types.Info
	files []*ast.File

	functions map[any]*function // by *types.Func or *ast.FuncLit
	locks     map[types.Object]string
	values    map[types.Object][]ast.Expr // function values assigned to variables, fields and parameters
	results   map[*types.Func][]ast.Expr  // function values that functions return
	named     []types.Type                // all types of the module, for calls of interfaces
	resolving map[types.Object]bool       // guards against cycles in values
}

// function is the body of one function.
type function struct {
	name  string
	calls []called
	own   []act
	// does holds the effects of a call of the function, each with the calls that lead to it.
	does map[string]act
}

// act is one operation that is forbidden under a lock.
type act struct {
	what string // "takes wire.Log.mu", "receives from a channel"
	pos  token.Pos
	held []string // locks held in the function itself
	via  []string // calls that lead to the operation
}

type called struct {
	callees []*function
	pos     token.Pos
	held    []string
}

// loadProgram reads and checks the packages of a module, without their tests.
func loadProgram(t *testing.T, dir string, patterns ...string) *program {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export,Module"}, patterns...)...)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	root, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &program{
		fset: token.NewFileSet(), root: root, functions: map[any]*function{}, locks: map[types.Object]string{},
		values: map[types.Object][]ast.Expr{}, results: map[*types.Func][]ast.Expr{}, resolving: map[types.Object]bool{},
		info: &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		},
	}
	exports, checked := map[string]string{}, map[string]*types.Package{}
	compiled := importer.ForCompiler(p.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath, Dir, Export string
			GoFiles                 []string
			Module                  *struct{ Main bool }
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[pkg.ImportPath] = pkg.Export
		if pkg.Module == nil || !pkg.Module.Main {
			continue
		}
		var files []*ast.File
		for _, name := range pkg.GoFiles {
			file, err := parser.ParseFile(p.fset, filepath.Join(pkg.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		config := types.Config{Importer: importing(func(path string) (*types.Package, error) {
			if own := checked[path]; own != nil {
				return own, nil
			}
			return compiled.Import(path)
		})}
		one, err := config.Check(pkg.ImportPath, p.fset, files, p.info)
		if err != nil {
			t.Fatal(err)
		}
		checked[pkg.ImportPath] = one
		p.files = append(p.files, files...)
		for _, name := range one.Scope().Names() {
			if tn, ok := one.Scope().Lookup(name).(*types.TypeName); ok && !types.IsInterface(tn.Type()) {
				p.named = append(p.named, tn.Type())
			}
		}
	}
	return p
}

type importing func(path string) (*types.Package, error)

func (i importing) Import(path string) (*types.Package, error) { return i(path) }

// analyse finds the operations of each function, and the effects of calling it.
func (p *program) analyse() {
	var bodies []func()
	for _, file := range p.files {
		pkg := file.Name.Name
		for _, decl := range file.Decls {
			name := pkg
			if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
				fn := p.info.Defs[f.Name].(*types.Func)
				name = cmp.Or(receiver(fn), pkg) + "." + f.Name.Name
				node := &function{name: name, does: map[string]act{}}
				p.functions[fn] = node
				bodies = append(bodies, func() { (&walker{program: p, node: node}).body(f.Body) })
				p.collectReturns(fn, f.Body)
			}
			ast.Inspect(decl, func(n ast.Node) bool {
				if lit, ok := n.(*ast.FuncLit); ok {
					node := &function{name: "a function in " + name, does: map[string]act{}}
					p.functions[lit] = node
					bodies = append(bodies, func() { (&walker{program: p, node: node}).body(lit.Body) })
				}
				p.collectValues(n)
				return true
			})
		}
	}
	for _, body := range bodies {
		body()
	}
	for _, f := range p.functions {
		for _, a := range f.own {
			f.does[a.what] = a
		}
	}
	for changed := true; changed; {
		changed = false
		for _, f := range p.functions {
			for _, call := range f.calls {
				for _, callee := range call.callees {
					for what, a := range callee.does {
						if _, known := f.does[what]; !known {
							f.does[what] = act{what: what, pos: a.pos, via: append([]string{callee.name}, a.via...)}
							changed = true
						}
					}
				}
			}
		}
	}
}

// problems returns the forbidden operations under a lock, sorted by place.
func (p *program) problems() []string {
	found := map[string]bool{}
	report := func(pos token.Pos, held []string, what string, via []string) {
		at := p.fset.Position(pos)
		file, err := filepath.Rel(p.root, at.Filename)
		if err != nil {
			file = at.Filename
		}
		text := fmt.Sprintf("%s:%d: with %s held, %s", file, at.Line, strings.Join(held, " and "), what)
		if len(via) > 0 {
			text += " (by " + strings.Join(via, ", ") + ")"
		}
		found[text] = true
	}
	for _, f := range p.functions {
		for _, a := range f.own {
			if len(a.held) > 0 {
				report(a.pos, a.held, a.what, nil)
			}
		}
		for _, call := range f.calls {
			if len(call.held) == 0 {
				continue
			}
			for _, callee := range call.callees {
				for what, a := range callee.does {
					report(call.pos, call.held, what, append([]string{callee.name}, a.via...))
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// receiver returns the name of a method's receiver type.
func receiver(fn *types.Func) string {
	recv := fn.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := recv.Type()
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return fn.Pkg().Name() + "." + named.Obj().Name()
	}
	return ""
}

// collectReturns records the functions that a function returns.
func (p *program) collectReturns(fn *types.Func, body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		if _, ok := n.(*ast.FuncLit); ok {
			return false
		}
		if r, ok := n.(*ast.ReturnStmt); ok {
			p.results[fn] = append(p.results[fn], r.Results...)
		}
		return true
	})
}

// collectValues records the values of variables, fields and parameters.
func (p *program) collectValues(n ast.Node) {
	set := func(to types.Object, value ast.Expr) {
		if to != nil && value != nil {
			p.values[to] = append(p.values[to], value)
		}
	}
	switch n := n.(type) {
	case *ast.AssignStmt:
		for i, left := range n.Lhs {
			switch {
			case len(n.Lhs) == len(n.Rhs):
				set(p.object(left), n.Rhs[i])
			case len(n.Rhs) == 1:
				set(p.object(left), n.Rhs[0])
			}
		}
	case *ast.ValueSpec:
		for i, name := range n.Names {
			if i < len(n.Values) {
				set(p.info.Defs[name], n.Values[i])
			}
		}
	case *ast.RangeStmt:
		if n.Value != nil {
			set(p.object(n.Value), n.X)
		}
	case *ast.CompositeLit:
		p.collectLiteral(n, set)
	case *ast.CallExpr:
		fn, ok := p.static(n)
		if !ok {
			return
		}
		params := fn.Origin().Signature().Params()
		for i, arg := range n.Args {
			if at := min(i, params.Len()-1); at >= 0 {
				set(params.At(at), arg)
			}
		}
	}
}

// collectLiteral records the values of fields in a struct literal.
func (p *program) collectLiteral(n *ast.CompositeLit, set func(types.Object, ast.Expr)) {
	t := p.info.TypeOf(n)
	if ptr, ok := t.(*types.Pointer); ok {
		t = ptr.Elem()
	}
	fields, ok := t.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, value := range n.Elts {
		if kv, ok := value.(*ast.KeyValueExpr); ok {
			set(p.object(kv.Key), kv.Value)
		} else {
			set(fields.Field(i), value)
		}
	}
}

// object returns the variable, field or parameter that an expression names, also for an element of
// one.
func (p *program) object(e ast.Expr) types.Object {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if o := p.info.Defs[e]; o != nil {
			return o
		}
		return origin(p.info.Uses[e])
	case *ast.SelectorExpr:
		return origin(p.info.Uses[e.Sel])
	case *ast.IndexExpr:
		return p.object(e.X)
	case *ast.StarExpr:
		return p.object(e.X)
	}
	return nil
}

// origin returns the field of a generic type for a field of its instance.
func origin(o types.Object) types.Object {
	if v, ok := o.(*types.Var); ok {
		return v.Origin()
	}
	return o
}

// static returns the function that a call names.
func (p *program) static(call *ast.CallExpr) (*types.Func, bool) {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr: // an instance of a generic function
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	var o types.Object
	switch f := fun.(type) {
	case *ast.Ident:
		o = p.info.Uses[f]
	case *ast.SelectorExpr:
		o = p.info.Uses[f.Sel]
	}
	fn, ok := o.(*types.Func)
	return fn, ok
}

// functionsOf returns the functions that can be the value of an expression.
func (p *program) functionsOf(e ast.Expr) []*function {
	switch e := ast.Unparen(e).(type) {
	case *ast.FuncLit:
		return []*function{p.functions[e]}
	case *ast.CompositeLit: // a list of functions
		var all []*function
		for _, value := range e.Elts {
			if kv, ok := value.(*ast.KeyValueExpr); ok {
				value = kv.Value
			}
			all = append(all, p.functionsOf(value)...)
		}
		return all
	case *ast.CallExpr:
		fn, ok := p.static(e)
		if !ok || p.resolving[fn.Origin()] { // already being resolved: a recursive function
			return nil
		}
		p.resolving[fn.Origin()] = true
		defer delete(p.resolving, fn.Origin())
		var all []*function
		for _, result := range p.results[fn.Origin()] {
			all = append(all, p.functionsOf(result)...)
		}
		return all
	}
	o := p.object(e)
	if fn, ok := o.(*types.Func); ok {
		return p.implementations(fn)
	}
	if o == nil || p.resolving[o] {
		return nil
	}
	if !calls(o.Type()) {
		return nil
	}
	p.resolving[o] = true
	defer delete(p.resolving, o)
	var all []*function
	for _, value := range p.values[o] {
		all = append(all, p.functionsOf(value)...)
	}
	return all
}

// calls reports whether a type is a function, or contains one.
func calls(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Signature:
		return true
	case *types.Slice:
		return calls(u.Elem())
	case *types.Array:
		return calls(u.Elem())
	case *types.Map:
		return calls(u.Elem())
	}
	return false
}

// implementations returns the module's functions that a call of fn can run.
func (p *program) implementations(fn *types.Func) []*function {
	fn = fn.Origin()
	if node := p.functions[fn]; node != nil {
		return []*function{node}
	}
	recv := fn.Signature().Recv()
	if recv == nil || !types.IsInterface(recv.Type()) {
		return nil
	}
	iface, _ := recv.Type().Underlying().(*types.Interface)
	var all []*function
	for _, t := range p.named {
		if iface == nil || !types.Implements(types.NewPointer(t), iface) {
			continue
		}
		o, _, _ := types.LookupFieldOrMethod(t, true, fn.Pkg(), fn.Name())
		if method, ok := o.(*types.Func); ok && p.functions[method.Origin()] != nil {
			all = append(all, p.functions[method.Origin()])
		}
	}
	return all
}

// walker walks one function's body in the order of execution.
type walker struct {
	*program
	node   *function
	held   []types.Object
	over   bool             // the following code is unreachable
	exits  []types.Object   // locks held at the function's returns
	breaks [][]types.Object // locks held at breaks out of loops and switches, innermost last
	defers []*ast.CallExpr
}

func (w *walker) body(b *ast.BlockStmt) {
	w.stmts(b.List)
	w.held, w.over = union(w.held, w.exits), false
	for _, call := range slices.Backward(w.defers) {
		w.call(call, true)
	}
}

func union(a, b []types.Object) []types.Object {
	out := slices.Clone(a)
	for _, o := range b {
		if !slices.Contains(out, o) {
			out = append(out, o)
		}
	}
	return out
}

func (w *walker) names() []string {
	var names []string
	for _, o := range w.held {
		names = append(names, w.locks[o])
	}
	return names
}

func (w *walker) act(pos token.Pos, what string) {
	w.node.own = append(w.node.own, act{what: what, pos: pos, held: w.names()})
}

func (w *walker) stmts(list []ast.Stmt) {
	for _, s := range list {
		w.stmt(s)
	}
}

// branches walks each part from the present state, and continues with the locks that any of them
// holds at its end.
func (w *walker) branches(parts ...func()) {
	before, over := w.held, w.over
	var after []types.Object
	all := true
	for _, part := range parts {
		w.held, w.over = slices.Clone(before), over
		part()
		if !w.over {
			after, all = union(after, w.held), false
		}
	}
	w.held, w.over = after, all
}

// breakable walks a loop or switch, and also continues from its breaks.
func (w *walker) breakable(run func()) {
	w.breaks = append(w.breaks, nil)
	run()
	left := w.breaks[len(w.breaks)-1]
	w.breaks = w.breaks[:len(w.breaks)-1]
	if left != nil {
		if w.over {
			w.held = nil
		}
		w.held, w.over = union(w.held, left), false
	}
}

func (w *walker) stmt(s ast.Stmt) {
	if w.over {
		return
	}
	switch s := s.(type) {
	case *ast.BlockStmt:
		w.stmts(s.List)
	case *ast.LabeledStmt:
		w.stmt(s.Stmt)
	case *ast.IfStmt:
		w.optional(s.Init)
		w.expr(s.Cond)
		w.branches(func() { w.stmt(s.Body) }, func() { w.optional(s.Else) })
	case *ast.ForStmt:
		w.optional(s.Init)
		w.loop(s.Cond == nil, func() {
			w.expr(s.Cond)
			w.stmt(s.Body)
			w.optional(s.Post)
		})
	case *ast.RangeStmt:
		w.expr(s.X)
		if _, ok := w.info.TypeOf(s.X).Underlying().(*types.Chan); ok {
			w.act(s.Pos(), "receives from a channel")
		}
		w.loop(false, func() {
			if _, ok := w.info.TypeOf(s.X).Underlying().(*types.Signature); ok {
				w.invoke(s.X.Pos(), w.functionsOf(s.X))
			}
			w.stmt(s.Body)
		})
	case *ast.SwitchStmt:
		w.optional(s.Init)
		w.expr(s.Tag)
		w.clauses(s.Body)
	case *ast.TypeSwitchStmt:
		w.optional(s.Init)
		w.stmt(s.Assign)
		w.clauses(s.Body)
	case *ast.SelectStmt:
		w.selects(s)
	case *ast.BranchStmt:
		if n := len(w.breaks); n > 0 && s.Tok == token.BREAK {
			w.breaks[n-1] = union(append([]types.Object{}, w.breaks[n-1]...), w.held)
		}
		w.over = s.Tok != token.FALLTHROUGH
	case *ast.ReturnStmt:
		w.exprs(s.Results)
		w.exits, w.over = union(w.exits, w.held), true
	case *ast.DeferStmt:
		w.exprs(s.Call.Args)
		w.defers = append(w.defers, s.Call)
	case *ast.GoStmt:
		w.exprs(s.Call.Args)
	case *ast.SendStmt:
		w.expr(s.Value)
		w.act(s.Pos(), "sends on a channel")
	default:
		w.expr(s)
	}
}

func (w *walker) optional(s ast.Stmt) {
	if s != nil {
		w.stmt(s)
	}
}

// loop walks a body twice: the second time with the locks that the first leaves held.
func (w *walker) loop(endless bool, body func()) {
	w.breakable(func() {
		w.branches(func() { w.over = endless }, func() {
			body()
			w.over = false
			body()
			w.over = w.over || endless
		})
	})
}

func (w *walker) clauses(b *ast.BlockStmt) {
	var parts []func()
	other := false
	for _, s := range b.List {
		clause := s.(*ast.CaseClause)
		other = other || clause.List == nil
		parts = append(parts, func() {
			w.exprs(clause.List)
			w.stmts(clause.Body)
		})
	}
	if !other {
		parts = append(parts, func() {})
	}
	w.breakable(func() { w.branches(parts...) })
}

func (w *walker) selects(s *ast.SelectStmt) {
	var parts []func()
	waits := true
	for _, c := range s.Body.List {
		clause := c.(*ast.CommClause)
		waits = waits && clause.Comm != nil
		parts = append(parts, func() { w.stmts(clause.Body) })
	}
	if waits {
		w.act(s.Pos(), "waits in a select")
	}
	w.breakable(func() { w.branches(parts...) })
}

func (w *walker) exprs(list []ast.Expr) {
	for _, e := range list {
		w.expr(e)
	}
}

// expr walks the calls and channel receptions in an expression or simple statement.
func (w *walker) expr(n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				w.act(n.Pos(), "receives from a channel")
			}
		case *ast.CallExpr:
			w.expr(n.Fun)
			w.exprs(n.Args)
			w.call(n, false)
			return false
		}
		return true
	})
}

// call records the effects of a call whose arguments have been walked.
func (w *walker) call(call *ast.CallExpr, deferred bool) {
	if lit, ok := ast.Unparen(call.Fun).(*ast.FuncLit); ok {
		w.invoke(call.Pos(), []*function{w.functions[lit]})
		return
	}
	fn, ok := w.static(call)
	if !ok {
		if name, ok := ast.Unparen(call.Fun).(*ast.Ident); ok && name.Name == "panic" {
			w.over = !deferred
		}
		w.invoke(call.Pos(), w.functionsOf(call.Fun))
		return
	}
	switch full := fn.FullName(); full {
	case "(*sync.Mutex).Lock", "(*sync.RWMutex).Lock", "(*sync.RWMutex).RLock":
		lock := w.lock(call)
		w.act(call.Pos(), "takes "+w.locks[lock])
		w.held = union(w.held, []types.Object{lock})
	case "(*sync.Mutex).Unlock", "(*sync.RWMutex).Unlock", "(*sync.RWMutex).RUnlock":
		lock := w.lock(call)
		w.held = slices.DeleteFunc(slices.Clone(w.held), func(o types.Object) bool { return o == lock })
	case "(*sync.WaitGroup).Go", "time.AfterFunc", "context.AfterFunc":
	default:
		if targets := w.implementations(fn); targets != nil {
			w.invoke(call.Pos(), targets)
		}
		if w.functions[fn.Origin()] != nil {
			return
		}
		if blocks(fn) {
			w.act(call.Pos(), "calls "+full)
		}
		for _, arg := range call.Args { // it may call its function arguments
			w.invoke(call.Pos(), w.functionsOf(arg))
		}
	}
}

func (w *walker) invoke(pos token.Pos, callees []*function) {
	if len(callees) > 0 {
		w.node.calls = append(w.node.calls, called{callees, pos, w.names()})
	}
}

// lock returns the mutex of a call of Lock or Unlock.
func (w *walker) lock(call *ast.CallExpr) types.Object {
	x := ast.Unparen(call.Fun).(*ast.SelectorExpr).X
	o := w.object(x)
	if w.locks[o] == "" {
		name := types.ExprString(x)
		if s, ok := x.(*ast.SelectorExpr); ok {
			t := w.info.TypeOf(s.X)
			if ptr, ok := t.Underlying().(*types.Pointer); ok {
				t = ptr.Elem()
			}
			name = types.TypeString(t, (*types.Package).Name) + "." + s.Sel.Name
		}
		w.locks[o] = name
	}
	return o
}

// blocking lists the packages whose functions may block.
var blocking = []string{
	"os", "os/exec", "net", "net/http", "log/slog", "github.com/coder/websocket",
	"github.com/modelcontextprotocol/go-sdk/mcp",
}

// quick lists functions of these packages, and methods of their types, that only use memory.
var quick = []string{"os.Getenv", "net/http.StatusText", "(net/http.Header).", "log/slog.New", "log/slog.NewTextHandler", "os.SameFile",
	"(*os.File).Name", "github.com/modelcontextprotocol/go-sdk/mcp.NewClient", "(*github.com/modelcontextprotocol/go-sdk/mcp.ClientSession).InitializeResult"}

// blocks reports whether a function outside of the module may block. Cond.Wait releases its lock
// meanwhile.
func blocks(fn *types.Func) bool {
	full := fn.FullName()
	if full == "time.Sleep" || full == "(*sync.WaitGroup).Wait" {
		return true
	}
	if fn.Pkg() == nil || !slices.Contains(blocking, fn.Pkg().Path()) {
		return false
	}
	return !slices.ContainsFunc(quick, func(q string) bool { return full == q || strings.HasSuffix(q, ".") && strings.HasPrefix(full, q) })
}
