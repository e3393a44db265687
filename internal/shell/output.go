package shell

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

// output returns what is known of what leaf i prints. Programs that only move
// text about are computed; for the others the answer is a hole that names the
// leaf.
func (w *walker) output(i int, c ctx) Value {
	l := &w.f.Leaves[i]
	unknown := outputHole(Span{i, i + 1})
	argv := l.Argv
	if len(argv) == 0 || !w.step(1) {
		return Value{}
	}
	args := argv[1:]
	input := func() (Value, bool) {
		if c.in.Text != nil {
			return *c.in.Text, true
		}
		return Value{}, false
	}
	// filter applies f to standard input when no file is named.
	filter := func(f func(string) (string, bool)) Value {
		in, ok := input()
		if !ok || operandsIn(args) {
			return unknown
		}
		w.step(len(in.Text) / 64)
		return in.mapExactOr(unknown, f)
	}
	switch l.Name {
	case "echo":
		return w.echo(args)
	case "print":
		return w.echo(args)
	case "printf":
		return printf(w, args)
	case "set", "export", "declare", "typeset", "readonly":
		if len(args) == 0 || args[0].Text == "-p" || args[0].Text == "-x" && len(args) == 1 {
			return unknown // every variable with its value
		}
		return Value{}
	case "true", ":", "false", "cd", "sleep", "mkdir", "touch", "rm", "test", "[", "read", "local", "shopt", "wait", "trap", "alias", "unset", "exit", "return", "chmod":
		return Value{}
	case "pwd":
		return concat(w.st.dir, exact("\n"))
	case "cat", "tee", "bat", "batcat", "pv", "sponge", "unbuffer":
		var b builder
		files := 0
		for k := range args {
			t := args[k].Text
			if l.Name == "tee" || l.Name == "pv" || l.Name == "sponge" {
				break
			}
			if strings.HasPrefix(t, "-") && t != "-" && len(args[k].Holes) == 0 {
				continue
			}
			files++
			if t == "-" || t == "/dev/stdin" {
				if in, ok := input(); ok {
					b.add(in)
				} else {
					b.add(unknown)
				}
				continue
			}
			if len(args[k].Holes) > 0 && args[k].Holes[0].Kind == HolePath {
				if text, ok := w.procText(args[k].Holes[0].Name); ok {
					b.add(text)
					continue
				}
			}
			b.add(Value{Holes: []Hole{{Kind: HoleInput, Name: args[k].exactOrEmpty(), From: Span{i, i + 1}}}})
		}
		if files == 0 {
			if in, ok := input(); ok {
				return in
			}
			return unknown
		}
		return b.take()
	case "tr":
		if len(args) == 0 {
			return unknown
		}
		return w.tr(args, c, unknown)
	case "rev":
		return filter(func(s string) (string, bool) {
			lines := strings.Split(s, "\n")
			for k, l := range lines {
				r := []rune(l)
				slices.Reverse(r)
				lines[k] = string(r)
			}
			return strings.Join(lines, "\n"), true
		})
	case "tac":
		return filter(func(s string) (string, bool) {
			lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
			slices.Reverse(lines)
			return strings.Join(lines, "\n") + "\n", true
		})
	case "base64", "gbase64":
		decode := false
		for k := range args {
			t := args[k].Text
			decode = decode || t == "--decode" || t == "-D" || (strings.HasPrefix(t, "-") && !strings.HasPrefix(t, "--") && strings.ContainsAny(t, "d"))
		}
		return w.base64(args, c, decode, unknown)
	case "openssl":
		text := " "
		for k := range args {
			text += args[k].Text + " "
		}
		if strings.Contains(text, "base64") && !strings.Contains(text, " -in ") {
			return w.base64(nil, c, strings.Contains(text, " -d "), unknown)
		}
	case "base32":
	case "xxd":
		text := ""
		for k := range args {
			text += args[k].Text + " "
		}
		if strings.Contains(text, "-r") && (strings.Contains(text, "p") || strings.Contains(text, "plain")) {
			in, ok := input()
			if !ok {
				return unknown
			}
			return in.mapExactOr(unknown, func(s string) (string, bool) {
				s = strings.Join(strings.Fields(s), "")
				d, err := hex.DecodeString(s[:len(s)/2*2])
				return string(d), err == nil
			})
		}
	case "head", "tail":
		return w.headTail(l.Name, args, c, unknown)
	case "sort", "uniq", "nl", "fold", "fmt", "column", "expand", "unexpand":
		if in, ok := input(); ok && !operandsIn(args) && len(in.Alts) == 0 {
			if t, ok := in.Exact(); ok && strings.Count(strings.TrimSuffix(t, "\n"), "\n") == 0 && (l.Name == "sort" || l.Name == "uniq") {
				return in
			}
		}
	case "cut":
		return w.cut(args, c, unknown)
	case "sed", "gsed":
		return w.sedOutput(args, c, unknown)
	case "basename":
		if len(args) >= 1 && !strings.HasPrefix(args[0].Text, "-") {
			return concat(args[0].mapExact(func(s string) Value {
				b := basename(s)
				if len(args) > 1 && b != args[1].Text {
					b = strings.TrimSuffix(b, args[1].Text)
				}
				return exact(b)
			}), exact("\n"))
		}
	case "dirname":
		if len(args) == 1 {
			return concat(args[0].mapExact(func(s string) Value { return exact(dirname(s)) }), exact("\n"))
		}
	case "realpath", "readlink", "grealpath", "greadlink":
		if n := len(args); n > 0 && !strings.HasPrefix(args[n-1].Text, "-") && (strings.Contains(l.Name, "realpath") || n > 1) {
			return concat(joinPath(w.st.dir, args[n-1].Value), exact("\n"))
		}
	case "which", "command", "type", "whereis":
		if n := len(args); n > 0 && !strings.HasPrefix(args[n-1].Text, "-") {
			v := args[n-1].Value
			if name, ok := v.Exact(); ok && name != "" && !strings.Contains(name, "/") && (l.Name == "which" || l.Name == "command") {
				v = exact("/usr/bin/" + name) // or some other folder of programs
			}
			return concat(v, exact("\n"))
		}
	case "seq":
		return w.seq(args, unknown)
	case "yes":
		if len(args) == 0 {
			return exact("y\ny\n")
		}
		return concat(joinValues(argValues(args), " "), exact("\n"))
	case "mktemp", "gmktemp":
		return w.mktemp(args, i)
	case "nproc", "wc", "date", "id", "stat", "uuidgen", "hostname", "whoami", "uname", "arch", "logname", "tty", "expr":
		kind := HoleName
		if l.Name == "wc" || l.Name == "nproc" {
			kind = HoleNumber
		}
		return Value{Text: "\n", Holes: []Hole{{Kind: kind, Name: l.Name, From: Span{i, i + 1}, NonEmpty: true}}}
	}
	return unknown
}

// mapExactOr is mapExact with the hole to use when something is not known.
func (v *Value) mapExactOr(unknown Value, f func(string) (string, bool)) Value {
	if len(v.Alts) > 0 {
		out := make([]Value, len(v.Alts))
		for i := range v.Alts {
			out[i] = v.Alts[i].mapExactOr(unknown, f)
		}
		return either(out...)
	}
	if t, ok := v.Exact(); ok && len(t) <= maxText {
		if s, ok := f(t); ok {
			return exact(s)
		}
	}
	return unknown
}

func (v *Value) exactOrEmpty() string {
	t, _ := v.Exact()
	return t
}

func argValues(args []Arg) []Value {
	vals := make([]Value, len(args))
	for i := range args {
		vals[i] = args[i].Value
	}
	return vals
}

// operandsIn reports whether any word is not an option.
func operandsIn(args []Arg) bool {
	for i := range args {
		if t := args[i].Text; t == "" || t[0] != '-' {
			return true
		}
	}
	return false
}

func (w *walker) echo(args []Arg) Value {
	newline, escapes := true, w.src.dialect == POSIX || w.src.dialect == Zsh
	for len(args) > 0 {
		t, ok := args[0].Exact()
		if !ok || len(t) < 2 || t[0] != '-' || strings.Trim(t[1:], "neEr") != "" {
			break
		}
		for _, f := range t[1:] {
			switch f {
			case 'n':
				newline = false
			case 'e':
				escapes = true
			case 'E', 'r':
				escapes = false
			}
		}
		args = args[1:]
	}
	v := joinValues(argValues(args), " ")
	if escapes {
		v = decodeEscapes(v)
	}
	if newline {
		v = concat(v, exact("\n"))
	}
	return v
}

// decodeEscapes decodes echo -e escapes in the known stretches of a value.
func decodeEscapes(v Value) Value {
	if len(v.Alts) > 0 {
		out := make([]Value, len(v.Alts))
		for i := range v.Alts {
			out[i] = decodeEscapes(v.Alts[i])
		}
		return either(out...)
	}
	if strings.IndexByte(v.Text, '\\') < 0 {
		return v
	}
	var b builder
	last := 0
	for _, h := range v.Holes {
		b.addText(ansiC(v.Text[last:h.At], true))
		last = h.At
		h.At = 0
		b.add(Value{Holes: []Hole{h}})
	}
	b.addText(ansiC(v.Text[last:], true))
	return b.take()
}

// printf formats as the builtin does, using the format again while there are
// arguments.
func printf(w *walker, args []Arg) Value {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return Value{}
	}
	format, ok := args[0].Exact()
	if !ok {
		return concat(joinValues(argValues(args), " "))
	}
	args = args[1:]
	var b builder
	for round := 0; round == 0 || len(args) > 0; round++ {
		used := false
		last := 0
		for i := 0; i < len(format); i++ {
			if format[i] == '\\' {
				i++
				continue
			}
			if format[i] != '%' {
				continue
			}
			b.addText(ansiC(format[last:i], false))
			i++
			start := i
			for i < len(format) && strings.IndexByte("-+ #0123456789.'*", format[i]) >= 0 {
				i++
			}
			if i >= len(format) {
				return b.take()
			}
			last = i + 1
			verb := format[i]
			if verb == '%' {
				b.addText("%")
				continue
			}
			if verb == '(' {
				if end := strings.IndexByte(format[i:], ')'); end > 0 {
					i += end + 1
					last = min(i+1, len(format))
					b.add(hole(HoleName, "date"))
				}
			}
			var arg Value
			if len(args) > 0 {
				arg, args = args[0].Value, args[1:]
				used = true
			}
			spec := format[start:min(i, len(format))]
			switch verb {
			case 's', 'q', 'Q':
				if verb == 'q' {
					arg = quoteValue(arg)
				}
				b.add(formatText(arg, spec))
			case 'b':
				b.add(decodeEscapes(arg))
			case 'c':
				b.add(arg.mapExact(func(s string) Value { return exact(s[:min(1, len(s))]) }))
			case 'd', 'i', 'u', 'x', 'X', 'o':
				b.add(arg.mapExact(func(s string) Value {
					if len(s) > 1 && (s[0] == '\'' || s[0] == '"') {
						return exact(strconv.Itoa(int(s[1])))
					}
					n, ok := w.number(s, 9)
					if !ok {
						return hole(HoleNumber, "")
					}
					out := strconv.FormatInt(n, 10)
					switch verb {
					case 'x':
						out = strconv.FormatInt(n, 16)
					case 'X':
						out = strings.ToUpper(strconv.FormatInt(n, 16))
					case 'o':
						out = strconv.FormatInt(n, 8)
					}
					if strings.HasPrefix(spec, "0") {
						if width, err := strconv.Atoi(spec); err == nil && width < 256 {
							out = strings.Repeat("0", max(0, width-len(out))) + out
						}
					}
					return exact(out)
				}))
			default:
				b.add(hole(HoleNumber, ""))
			}
		}
		if last < len(format) {
			b.addText(ansiC(format[last:], false))
		}
		if !used || !w.step(1+len(format)/64) || b.full {
			break
		}
	}
	return b.take()
}

// formatText applies a width and precision to %s.
func formatText(v Value, spec string) Value {
	dot := strings.IndexByte(spec, '.')
	if dot < 0 {
		return v
	}
	n, err := strconv.Atoi(spec[dot+1:])
	if err != nil {
		return v
	}
	return v.mapExact(func(s string) Value { return exact(s[:min(max(n, 0), len(s))]) })
}

func (w *walker) base64(args []Arg, c ctx, decode bool, unknown Value) Value {
	in := c.in.Text
	for k := range args {
		if t := args[k].Text; t == "" || t[0] != '-' {
			if k > 0 && (args[k-1].Text == "-w" || args[k-1].Text == "-b") {
				continue
			}
			if len(args[k].Holes) == 1 && args[k].Holes[0].Kind == HolePath {
				if text, ok := w.procText(args[k].Holes[0].Name); ok {
					in = &text
					continue
				}
			}
			return unknown
		}
	}
	if in == nil {
		return unknown
	}
	w.step(len(in.Text) / 64)
	return in.mapExactOr(unknown, func(s string) (string, bool) {
		if !decode {
			return base64.StdEncoding.EncodeToString([]byte(s)) + "\n", true
		}
		return decodeBase64(s)
	})
}

func decodeBase64(s string) (string, bool) {
	s = strings.Join(strings.Fields(s), "")
	s = strings.TrimRight(s, "=")
	enc := base64.RawStdEncoding
	if strings.ContainsAny(s, "-_") {
		enc = base64.RawURLEncoding
	}
	d, err := enc.DecodeString(s)
	return string(d), err == nil && len(d) > 0
}

func (w *walker) headTail(name string, args []Arg, c ctx, unknown Value) Value {
	if c.in.Text == nil {
		return unknown
	}
	n, bytes := 10, false
	for k := 0; k < len(args); k++ {
		t, ok := args[k].Exact()
		if !ok || !strings.HasPrefix(t, "-") {
			return unknown
		}
		val := strings.TrimLeft(t, "-nc")
		if strings.HasPrefix(t, "--") {
			_, val, _ = strings.Cut(t, "=")
		}
		if val == "" && k+1 < len(args) {
			k++
			val = args[k].Text
		}
		bytes = strings.HasPrefix(t, "-c") || strings.HasPrefix(t, "--bytes")
		m, err := strconv.Atoi(strings.TrimPrefix(val, "+"))
		if err != nil || m < 0 || (strings.HasPrefix(val, "+") && name == "tail") {
			return unknown
		}
		n = m
	}
	return c.in.Text.mapExactOr(unknown, func(s string) (string, bool) {
		if bytes {
			if name == "head" {
				return s[:min(n, len(s))], true
			}
			return s[max(0, len(s)-n):], true
		}
		lines := strings.SplitAfter(s, "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		if name == "head" {
			return strings.Join(lines[:min(n, len(lines))], ""), true
		}
		return strings.Join(lines[max(0, len(lines)-n):], ""), true
	})
}

func (w *walker) cut(args []Arg, c ctx, unknown Value) Value {
	opts, n := options(append([]Arg{{}}, args...), 1, "dfcb", " --delimiter --fields --characters --bytes ")
	if c.in.Text == nil || n <= len(args) {
		return unknown
	}
	delim := "\t"
	if d := value(opts, " -d --delimiter "); d != nil {
		delim = d.Text
	}
	list := value(opts, " -f --fields ")
	chars := value(opts, " -c -b --characters --bytes ")
	if (list == nil) == (chars == nil) || delim == "" {
		return unknown
	}
	spec := list
	if chars != nil {
		spec = chars
	}
	pick := func(n int) []bool {
		keep := make([]bool, n)
		for part := range strings.SplitSeq(spec.Text, ",") {
			lo, hi, isRange := strings.Cut(part, "-")
			a, err := strconv.Atoi(lo)
			if err != nil {
				a = 1
			}
			b := a
			if isRange {
				if b, err = strconv.Atoi(hi); err != nil {
					b = n
				}
			}
			for k := max(a, 1); k <= min(b, n); k++ {
				keep[k-1] = true
			}
		}
		return keep
	}
	return c.in.Text.mapExactOr(unknown, func(s string) (string, bool) {
		if len(s) > 64<<10 || len(spec.Text) > 256 {
			return "", false
		}
		lines := strings.Split(strings.TrimSuffix(s, "\n"), "\n")
		for k, l := range lines {
			if !w.step(1 + len(l)/16) {
				return "", false
			}
			var fields []string
			sep := delim
			if chars != nil {
				fields, sep = strings.Split(l, ""), ""
			} else if !strings.Contains(l, delim) {
				continue
			} else {
				fields = strings.Split(l, delim)
			}
			var out []string
			for j, ok := range pick(len(fields)) {
				if ok {
					out = append(out, fields[j])
				}
			}
			lines[k] = strings.Join(out, sep)
		}
		return strings.Join(lines, "\n") + "\n", true
	})
}

// sedOutput follows s/literal/literal/ with the g flag.
func (w *walker) sedOutput(args []Arg, c ctx, unknown Value) Value {
	if c.in.Text == nil {
		return unknown
	}
	var scripts []string
	for k := 0; k < len(args); k++ {
		t, ok := args[k].Exact()
		switch {
		case !ok:
			return unknown
		case t == "-e" && k+1 < len(args):
			k++
			scripts = append(scripts, args[k].Text)
		case t == "-E" || t == "-r":
		case strings.HasPrefix(t, "-"):
			return unknown
		case len(scripts) == 0:
			scripts = append(scripts, t)
		default:
			return unknown
		}
	}
	return c.in.Text.mapExactOr(unknown, func(s string) (string, bool) {
		for _, script := range scripts {
			for one := range strings.SplitSeq(script, ";") {
				one = strings.TrimSpace(one)
				if one == "" {
					continue
				}
				if len(one) < 4 || one[0] != 's' {
					return "", false
				}
				parts := strings.Split(one[2:], one[1:2])
				if len(parts) != 3 || (parts[2] != "" && parts[2] != "g") {
					return "", false
				}
				pat, rep := parts[0], parts[1]
				front, back := strings.HasPrefix(pat, "^"), strings.HasSuffix(pat, "$")
				pat = strings.TrimSuffix(strings.TrimPrefix(pat, "^"), "$")
				if strings.ContainsAny(pat, `.*[]\^$+?(){}|`) || strings.ContainsAny(rep, `&\`) {
					return "", false
				}
				lines := strings.Split(s, "\n")
				for k, l := range lines {
					switch {
					case k == len(lines)-1 && l == "" && k > 0:
					case front && back:
						if l == pat {
							lines[k] = rep
						}
					case front:
						if strings.HasPrefix(l, pat) {
							lines[k] = rep + l[len(pat):]
						}
					case back:
						if strings.HasSuffix(l, pat) {
							lines[k] = l[:len(l)-len(pat)] + rep
						}
					case pat == "":
						return "", false
					case parts[2] == "g":
						lines[k] = strings.ReplaceAll(l, pat, rep)
					default:
						lines[k] = strings.Replace(l, pat, rep, 1)
					}
				}
				s = strings.Join(lines, "\n")
				if len(s) > maxText || !w.step(1+len(s)/64) {
					return "", false
				}
			}
		}
		return s, true
	})
}

func (w *walker) tr(args []Arg, c ctx, unknown Value) Value {
	if c.in.Text == nil {
		return unknown
	}
	del, squeeze, comp := false, false, false
	for len(args) > 0 && len(args[0].Text) > 1 && args[0].Text[0] == '-' {
		for _, f := range args[0].Text[1:] {
			switch f {
			case 'd':
				del = true
			case 's':
				squeeze = true
			case 'c', 'C':
				comp = true
			default:
				return unknown
			}
		}
		args = args[1:]
	}
	var sets [2]string
	for k := range sets {
		if k < len(args) {
			t, ok := args[k].Exact()
			if !ok {
				return unknown
			}
			sets[k] = trSet(t)
		}
	}
	if len(args) == 0 || (len(args) == 1 && !del && !squeeze) || len(sets[0]) > 4096 || len(sets[1]) > 4096 {
		return unknown
	}
	var in [256]bool
	for k := 0; k < len(sets[0]); k++ {
		in[sets[0][k]] = true
	}
	var to [256]byte
	for k := range to {
		to[k] = byte(k)
	}
	if len(args) > 1 && !del && sets[1] != "" {
		if comp {
			for k := range to {
				if !in[k] {
					to[k] = sets[1][len(sets[1])-1]
				}
			}
		} else {
			for k := 0; k < len(sets[0]); k++ {
				to[sets[0][k]] = sets[1][min(k, len(sets[1])-1)]
			}
		}
	}
	return c.in.Text.mapExactOr(unknown, func(s string) (string, bool) {
		w.step(len(s) / 64)
		out := make([]byte, 0, len(s))
		for k := 0; k < len(s); k++ {
			hit := in[s[k]] != comp
			if del && hit {
				continue
			}
			ch := to[s[k]]
			if squeeze && len(out) > 0 && out[len(out)-1] == ch && (hit || len(args) > 1) {
				continue
			}
			out = append(out, ch)
		}
		return string(out), true
	})
}

// trSet expands the ranges, classes and escapes of a tr operand.
func trSet(s string) string {
	s = ansiC(s, false)
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.HasPrefix(s[i:], "[:") {
			if end := strings.Index(s[i:], ":]"); end > 2 {
				for ch := 0; ch < 256; ch++ {
					if inClass(s[i+2:i+end], byte(ch)) {
						b.WriteByte(byte(ch))
					}
				}
				i += end + 1
				continue
			}
		}
		if i+2 < len(s) && s[i+1] == '-' && s[i] <= s[i+2] {
			for ch := int(s[i]); ch <= int(s[i+2]); ch++ {
				b.WriteByte(byte(ch))
			}
			i += 2
			continue
		}
		b.WriteByte(s[i])
		if b.Len() > 4096 {
			break
		}
	}
	return b.String()
}

func (w *walker) seq(args []Arg, unknown Value) Value {
	var nums []int
	for k := range args {
		n, err := strconv.Atoi(args[k].exactOrEmpty())
		if err != nil {
			return Value{Text: "\n", Holes: []Hole{{Kind: HoleNumber, Name: "seq", NonEmpty: true}}}
		}
		nums = append(nums, n)
	}
	from, step, to := 1, 1, 0
	switch len(nums) {
	case 1:
		to = nums[0]
	case 2:
		from, to = nums[0], nums[1]
	case 3:
		from, step, to = nums[0], nums[1], nums[2]
	default:
		return unknown
	}
	if step == 0 || (to-from)/step > 256 {
		return Value{Text: "\n", Holes: []Hole{{Kind: HoleNumber, Name: "seq", NonEmpty: true}}}
	}
	var b strings.Builder
	for n := from; (step > 0 && n <= to) || (step < 0 && n >= to); n += step {
		b.WriteString(strconv.Itoa(n))
		b.WriteByte('\n')
		if n > 1<<60 || n < -1<<60 {
			break
		}
	}
	return exact(b.String())
}

// mktemp prints a new name in the temporary folder, or where it is told.
func (w *walker) mktemp(args []Arg, i int) Value {
	dir := exact("/tmp")
	template := Value{}
	inTmp := true
	opts, n := options(append([]Arg{{}}, args...), 1, "p", " --suffix ")
	for _, o := range opts {
		switch {
		case (o.name == "-p" || o.name == "--tmpdir") && o.value != nil:
			dir = o.value.Value
		}
	}
	if n >= 1 && n-1 < len(args) {
		template = args[n-1].Value
		inTmp = given(opts, " -t -p --tmpdir ")
	} else if p := w.world.Env; p != nil {
		if t, ok := p("TMPDIR"); ok && t != "" {
			dir = exact(t)
		}
	}
	name := Value{Holes: []Hole{{Kind: HoleName, Name: "mktemp", From: Span{i, i + 1}, NonEmpty: true}}}
	if !template.IsEmpty() {
		if t, ok := template.Exact(); ok {
			name = concat(exact(strings.TrimRight(t, "X")), name)
		} else {
			name = template
		}
	} else {
		name = concat(exact("tmp."), name)
	}
	if inTmp {
		name = concat(dir, exact("/"), name)
	}
	return concat(name, exact("\n"))
}
