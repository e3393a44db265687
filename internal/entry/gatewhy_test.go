package entry

import (
	"strings"
	"testing"
)

// B19, anthony-chaudhary/fak 6719, 10467: a refusal that was wrong has to be told
// from one that was right, by people who may not see the call.
func TestReported_B19_anObjectionWithoutThePerson(t *testing.T) {
	for _, c := range []struct{ target, want string }{
		{"/home/ada/clients/acme/report.docx", "~/x/x/x.docx"},
		{"/home/ada/.ssh/id_rsa", "~/.ssh/id_rsa"},
		{"/home/ada", "~"},
		{"/home/adam/x.txt", "/home/x/x.txt"},
		{"/etc/passwd", "/etc/passwd"},
		{"/var/lib/acme/db.sqlite3", "/var/lib/x/x"},
		{"../acme/*", "../x/*"},
		{"https://acme.example/invoices?id=7", "https://host/x"},
		{"https://user:secret@acme.example", "https://host"},
		{`C:\Users\Ada\Secret`, "C:/Users/x/x"},
		{"$SECRET_DIR/", "$SECRET_DIR/"},
		{".env", ".env"},
	} {
		if got := blur(c.target, "/home/ada"); got != c.want {
			t.Errorf("%q: got %q, want %q", c.target, got, c.want)
		}
	}
	o := Objection{Code: "abcd-efgh", Provider: "claude", Tool: "Bash", Decision: "deny", Grounds: []Ground{
		{"delete-home", "it would delete", "delete home /home/ada/clients/acme"}, {"git-reset-hard", "it would reset", "discard-work any"}, {"sudo", "it would", ""}}}
	got := o.Redacted("/home/ada")
	if got.Code != "" || !got.Time.IsZero() || got.Grounds[0].Effect != "delete home ~/x/x" || got.Grounds[1].Effect != "discard-work any" || strings.Contains(o.Grounds[0].Effect, "~") {
		t.Errorf("got %+v of %+v", got, o)
	}
}
