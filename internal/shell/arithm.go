package shell

import (
	"strconv"

	"mvdan.cc/sh/v3/syntax"
)

// arithmValue expands $((x)).
func (w *walker) arithmValue(x syntax.ArithmExpr) Value {
	if x == nil {
		return hole(HoleNumber, "")
	}
	if n, ok := w.arithm(x); ok {
		return exact(strconv.FormatInt(n, 10))
	}
	return hole(HoleNumber, "")
}

// arithm evaluates an arithmetic expression with its assignments. It walks the
// substitutions in it even when the value cannot be known.
func (w *walker) arithm(x syntax.ArithmExpr) (int64, bool) {
	if x == nil {
		return 0, false
	}
	// Long sums nest to the left: follow them without recursion.
	type todo struct {
		op syntax.BinAritOperator
		y  syntax.ArithmExpr
	}
	var chain []todo
	for {
		b, ok := x.(*syntax.BinaryArithm)
		if !ok || assigns(b.Op) || b.Op == syntax.TernQuest {
			break
		}
		chain = append(chain, todo{b.Op, b.Y})
		x = b.X
		if !w.step(1) {
			return 0, false
		}
	}
	n, ok := w.arithmLeaf(x)
	for i := len(chain) - 1; i >= 0; i-- {
		if !w.enter() {
			return 0, false
		}
		m, ok2 := w.arithm(chain[i].y)
		w.leave()
		if !ok || !ok2 {
			n, ok = 0, false
			continue
		}
		n, ok = binary(chain[i].op, n, m)
	}
	return n, ok
}

func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return false
}

func (w *walker) arithmLeaf(x syntax.ArithmExpr) (int64, bool) {
	if !w.enter() {
		return 0, false
	}
	defer w.leave()
	switch x := x.(type) {
	case *syntax.Word:
		v := w.one(x)
		s, ok := v.Exact()
		if !ok {
			return 0, false
		}
		return w.number(s, 0)
	case *syntax.ParenArithm:
		return w.arithm(x.X)
	case *syntax.FlagsArithm:
		return w.arithm(x.X)
	case *syntax.UnaryArithm:
		n, ok := w.arithm(x.X)
		switch x.Op {
		case syntax.Inc, syntax.Dec:
			d := int64(1)
			if x.Op == syntax.Dec {
				d = -1
			}
			name := arithmName(x.X)
			if name == "" {
				return 0, false
			}
			if !ok {
				w.assign(name, hole(HoleNumber, name))
				return 0, false
			}
			w.assign(name, exact(strconv.FormatInt(n+d, 10)))
			if x.Post {
				return n, true
			}
			return n + d, true
		case syntax.Minus:
			return -n, ok
		case syntax.Plus:
			return n, ok
		case syntax.BitNegation:
			return ^n, ok
		case syntax.Not:
			return truth(n == 0), ok
		}
	case *syntax.BinaryArithm:
		if x.Op == syntax.TernQuest {
			c, ok := w.arithm(x.X)
			alts, isAlts := x.Y.(*syntax.BinaryArithm)
			if !isAlts {
				return 0, false
			}
			a, okA := w.arithm(alts.X)
			b, okB := w.arithm(alts.Y)
			if !ok {
				return 0, false
			}
			if c != 0 {
				return a, okA
			}
			return b, okB
		}
		name := arithmName(x.X)
		n, ok := w.arithm(x.Y)
		if name == "" {
			return 0, false
		}
		if x.Op != syntax.Assgn {
			old, ok2 := w.arithm(x.X)
			ok = ok && ok2
			if ok {
				n, ok = binary(plainOp(x.Op), old, n)
			}
		}
		if !ok {
			w.assign(name, hole(HoleNumber, name))
			return 0, false
		}
		w.assign(name, exact(strconv.FormatInt(n, 10)))
		return n, true
	}
	return 0, false
}

func arithmName(x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok {
		if s := word.Lit(); isName(s) {
			return s
		}
	}
	return ""
}

// number reads a numeral, or a variable that holds one.
func (w *walker) number(s string, hops int) (int64, bool) {
	if s == "" {
		return 0, true
	}
	if isName(s) {
		if hops > 8 {
			return 0, false
		}
		v := w.variable(s)
		t, ok := v.Exact()
		if !ok {
			return 0, false
		}
		return w.number(t, hops+1)
	}
	if n, err := strconv.ParseInt(s, 0, 64); err == nil {
		return n, true
	}
	for i := 0; i < len(s); i++ {
		if s[i] == '#' {
			base, err := strconv.Atoi(s[:i])
			if err != nil || base < 2 || base > 36 {
				return 0, false
			}
			n, err := strconv.ParseInt(s[i+1:], base, 64)
			return n, err == nil
		}
	}
	return 0, false
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func plainOp(op syntax.BinAritOperator) syntax.BinAritOperator {
	switch op {
	case syntax.AddAssgn:
		return syntax.Add
	case syntax.SubAssgn:
		return syntax.Sub
	case syntax.MulAssgn:
		return syntax.Mul
	case syntax.QuoAssgn:
		return syntax.Quo
	case syntax.RemAssgn:
		return syntax.Rem
	case syntax.AndAssgn:
		return syntax.And
	case syntax.OrAssgn:
		return syntax.Or
	case syntax.XorAssgn:
		return syntax.Xor
	case syntax.ShlAssgn:
		return syntax.Shl
	case syntax.ShrAssgn:
		return syntax.Shr
	}
	return op
}

func binary(op syntax.BinAritOperator, a, b int64) (int64, bool) {
	switch op {
	case syntax.Add:
		return a + b, true
	case syntax.Sub:
		return a - b, true
	case syntax.Mul:
		return a * b, true
	case syntax.Quo, syntax.Rem:
		if b == 0 || (a == -1<<63 && b == -1) {
			return 0, false
		}
		if op == syntax.Quo {
			return a / b, true
		}
		return a % b, true
	case syntax.Pow:
		if b < 0 || b > 63 {
			return 0, false
		}
		n := int64(1)
		for range b {
			n *= a
		}
		return n, true
	case syntax.And:
		return a & b, true
	case syntax.Or:
		return a | b, true
	case syntax.Xor:
		return a ^ b, true
	case syntax.Shl, syntax.Shr:
		if b < 0 || b > 63 {
			return 0, false
		}
		if op == syntax.Shl {
			return a << b, true
		}
		return a >> b, true
	case syntax.Eql:
		return truth(a == b), true
	case syntax.Neq:
		return truth(a != b), true
	case syntax.Lss:
		return truth(a < b), true
	case syntax.Gtr:
		return truth(a > b), true
	case syntax.Leq:
		return truth(a <= b), true
	case syntax.Geq:
		return truth(a >= b), true
	case syntax.AndArit:
		return truth(a != 0 && b != 0), true
	case syntax.OrArit:
		return truth(a != 0 || b != 0), true
	case syntax.Comma:
		return b, true
	}
	return 0, false
}
