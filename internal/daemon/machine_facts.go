package daemon

import (
	"errors"

	"github.com/lidguard-go/lidguard/internal/awake"
	"github.com/lidguard-go/lidguard/internal/platform/battery"
	"github.com/lidguard-go/lidguard/internal/platform/display"
	"github.com/lidguard-go/lidguard/internal/platform/lid"
)

// Readings of the platform packages in the words of package awake.

func lidOf(r lid.Reading) (awake.Lid, error) {
	switch r.State {
	case lid.Open:
		return awake.LidOpen, nil
	case lid.Closed:
		return awake.LidClosed, nil
	}
	return awake.LidUnknown, errors.New(r.Why)
}

func countOf(r display.Reading, err error) (int, error) {
	if err != nil {
		return awake.UnknownDisplays, err
	}
	return len(r.Blocking(true)), nil
}

func batteryOf(r battery.Reading, err error) awake.Battery {
	if err != nil || !r.Present {
		return awake.Battery{}
	}
	return awake.Battery{Known: true, OnBattery: r.OnBattery, Percent: r.Percent}
}

func networkOf(up bool, err error) (awake.Network, error) {
	switch {
	case err != nil:
		return awake.NetworkUnknown, err
	case up:
		return awake.NetworkUp, nil
	}
	return awake.NetworkDown, nil
}
