package rulebook

import (
	"encoding"
	"reflect"
	"strings"
)

// checkWords has every value of a string type that reads itself (a mode, a digest)
// do so. The decoder asks types of all other kinds and passes those over
// (go-toml 2.4.3, assignString), and a word with a typing mistake would be a rule
// that never fires.
func checkWords(file string, data []byte, into any) error {
	w := words{file: file, data: data}
	return w.check(reflect.ValueOf(into), "", -1, "")
}

type words struct {
	file string
	data []byte
}

// check looks at the value of key in [section] or the index-th [[section]].
func (w *words) check(v reflect.Value, section string, index int, key string) error {
	if v.IsZero() {
		return nil // nothing was written; most of a book is not, and asking a type for a method is dear at first
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return w.check(v.Elem(), section, index, key)
	case reflect.String:
		return w.word(v, section, index, key)
	}
	if v.CanAddr() {
		if _, reads := v.Addr().Interface().(encoding.TextUnmarshaler); reads {
			return nil // the decoder has asked it
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		if key != "" {
			section, index, key = join(section, key), -1, ""
		}
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
			if !f.IsExported() || name == "" || name == "-" {
				continue
			}
			into, inside, at := section, name, index
			if section == "" && f.Type.Kind() != reflect.String {
				into, inside, at = name, "", -1
			}
			if err := w.check(v.Field(i), into, at, inside); err != nil {
				return err
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			// A map's values have no address; a copy reads as well.
			c := reflect.New(it.Value().Type()).Elem()
			c.Set(it.Value())
			if err := w.check(c, section, index, join(key, it.Key().String())); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			at, inside, in := index, key, section
			if e := v.Type().Elem(); e.Kind() == reflect.Struct || e.Kind() == reflect.Pointer {
				at, inside, in = i, "", join(section, key)
			}
			if err := w.check(v.Index(i), in, at, inside); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *words) word(v reflect.Value, section string, index int, key string) error {
	if v.Len() == 0 || !v.CanAddr() {
		return nil
	}
	reads, ok := v.Addr().Interface().(encoding.TextUnmarshaler)
	if !ok {
		return nil
	}
	if err := reads.UnmarshalText([]byte(v.String())); err != nil {
		return At(File{Path: w.file, Data: w.data}, section, index, key, err.Error())
	}
	return nil
}

func join(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "." + b
}
