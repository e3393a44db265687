package entry

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Every field that encoding/json would write is written, under the same name.
func TestAuditEntry_lineAgreesWithTheDecoder(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 890, time.UTC)
	full := AuditEntry{}
	v := reflect.ValueOf(&full).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Interface().(type) {
		case time.Time:
			f.Set(reflect.ValueOf(at))
		case *time.Time:
			f.Set(reflect.ValueOf(&at))
		case []string:
			f.Set(reflect.ValueOf([]string{"a \"b\" <c>", "é\n\x01"}))
		case bool:
			f.SetBool(true)
		default:
			f.SetString(v.Type().Field(i).Name + " \\ \u2028")
		}
	}
	for _, e := range []AuditEntry{full, {Time: at, Kind: "relax"}} {
		line := e.line()
		var got AuditEntry
		if err := json.Unmarshal(line, &got); err != nil || !reflect.DeepEqual(got, e) {
			t.Errorf("%s: got %+v, want %+v, %v", line, got, e, err)
		}
		want, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		if keys(t, line) != keys(t, want) {
			t.Errorf("got %s, want the fields of %s", line, want)
		}
	}
}

// keys are an object's, in their order.
func keys(t *testing.T, object []byte) string {
	t.Helper()
	var list []string
	dec := json.NewDecoder(strings.NewReader(string(object)))
	for depth, isKey := 0, true; ; {
		tok, err := dec.Token()
		if err != nil {
			return strings.Join(list, " ")
		}
		switch d, delim := tok.(json.Delim); {
		case delim && (d == '{' || d == '['):
			depth, isKey = depth+1, true
		case delim:
			depth, isKey = depth-1, true
		case depth == 1 && isKey:
			list, isKey = append(list, tok.(string)), false
		case depth == 1:
			isKey = true
		}
	}
}
