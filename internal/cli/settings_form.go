package cli

import (
	"errors"
	"fmt"

	"charm.land/huh/v2"
	"github.com/lidguard-go/lidguard/internal/settings"
)

// settingsForm shows all settings as a form, one page per group, and returns
// what the person changed. Leaving it with Ctrl-C changes nothing.
func (a *app) settingsForm(current settings.Settings) ([]settings.Change, error) {
	keys := settings.Keys()
	values := make([]string, len(keys))
	var pages []*huh.Group
	var fields []huh.Field
	for i, k := range keys {
		values[i] = k.Value(current)
		fields = append(fields, settingField(k, &values[i]))
		if i == len(keys)-1 || keys[i+1].Group != k.Group {
			pages = append(pages, huh.NewGroup(fields...).Title(k.Group))
			fields = nil
		}
	}
	if err := a.form(pages...); err != nil {
		return nil, err
	}
	var changes []settings.Change
	for i, k := range keys {
		if values[i] != k.Value(current) {
			changes = append(changes, settings.Change{Key: k.Name, Value: values[i]})
		}
	}
	return changes, nil
}

// settingField is one setting as a field: a choice where there are few values,
// else a line that is checked while it is typed.
func settingField(k settings.Key, value *string) huh.Field {
	words := k.Choices
	if k.Kind == settings.Bool {
		words = []string{"true", "false"}
	}
	if k.Kind == settings.Bool || k.Kind == settings.Choice {
		return huh.NewSelect[string]().Title(k.Name).Description(k.Help).Options(huh.NewOptions(words...)...).Inline(true).Value(value)
	}
	return huh.NewInput().Title(k.Name).Description(k.Help + ": " + k.Allowed()).Value(value).Validate(func(text string) error {
		scratch := settings.Default()
		if err := k.Set(&scratch, text); err != nil {
			return errors.New("allowed is " + k.Allowed())
		}
		return nil
	})
}

// form shows pages of questions. Leaving it with Ctrl-C is an error.
func (a *app) form(pages ...*huh.Group) error {
	form := huh.NewForm(pages...).WithInput(a.in).WithOutput(a.err).WithAccessible(a.Env("ACCESSIBLE") != "" || a.Env("TERM") == "dumb")
	err := form.Run()
	if errors.Is(err, huh.ErrUserAborted) {
		return hint(errors.New("nothing was changed"), "every question has an option, see --help")
	}
	if err != nil {
		return fmt.Errorf("showing the form: %w", err)
	}
	return nil
}
