package audio

import "context"

func (p Player) play(ctx context.Context, sound string, percent int) error {
	return p.playMacOS(ctx, sound, percent)
}
