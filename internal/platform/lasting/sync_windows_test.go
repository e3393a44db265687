package lasting

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Whoever looks at the backup or a value keeps nobody from replacing it.
func TestReplace_whileItIsRead(t *testing.T) {
	s := &Store{Path: filepath.Join(t.TempDir(), "pending-backup.json"), Now: time.Now}
	for _, b := range []*backup{{Schema: schema, Values: []Entry{{Name: "a"}}}, {Schema: schema, Values: []Entry{{Name: "b"}}}, {}} {
		if f, err := os.Open(s.Path); err == nil {
			time.AfterFunc(100*time.Millisecond, func() { f.Close() })
		}
		if err := s.save(b); err != nil {
			t.Fatal(err)
		}
		if list, err := s.Pending(); err != nil || len(list) != len(b.Values) {
			t.Errorf("pending %+v, %v", list, err)
		}
	}
}
