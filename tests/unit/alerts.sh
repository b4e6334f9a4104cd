#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Prometheus' own tool about our alerts and the expressions of the dashboard:
# alerts.yml says when each alert fires and when not, and no alert is left out.

# shellcheck source=tests/cli/lib.bash
source "$(dirname "$0")/../cli/lib.bash"

RULES=$ROOT/user/prometheus/baleen.rules.yml
DASHBOARD=$ROOT/user/grafana/dashboard.json
CASES=$ROOT/tests/unit/alerts.yml

# alerts: their names
alerts()
{
	sed -n 's/^ *- alert: //p' "$RULES"
}

# expressions: of the dashboard, as Grafana would ask them
expressions()
{
	jq -r '[.panels[].targets // [] | .[].expr] + [.annotations.list[].expr] | .[]' "$DASHBOARD" |
		sed 's/\$__rate_interval/5m/g; s/\$__interval/1m/g; s/"\$[a-z]*"/".*"/g'
}

check "the alerts are rules" promtool check rules "$RULES"
is "and are counted" "$(grep -c SUCCESS "$TMP/out") $(alerts | wc -l)" \
	"1 $(sed -n 's/.*SUCCESS: \([0-9]*\) rules.*/\1/p' "$TMP/out")"
check "they fire when they should" promtool test rules "$CASES"
for alert in $(alerts); do
	check "$alert is tried when it fires" grep -q "alertname: $alert$" "$CASES"
	check "and when it does not" grep -q "alertname: $alert,.*exp_alerts: \[\]" "$CASES"
done

check "the dashboard is JSON" jq -e '.panels | length > 10' "$DASHBOARD"
is "panels have numbers of their own" "$(jq '[.panels[].id] | length - (unique | length)' "$DASHBOARD")" 0
is "no two panels are in one place" "$(jq '[.panels[].gridPos | [.x, .y]] | length - (unique | length)' \
	"$DASHBOARD")" 0
{
	echo "groups: [ { name: dashboard, rules: ["
	expressions | jq -R '{ record: "a:b:c", expr: . }' | sed 's/^}$/},/'
	echo "] } ]"
} >dashboard.yml
check "its expressions are PromQL" promtool check rules --lint=none dashboard.yml
is "all of them" "$(sed -n 's/.*SUCCESS: \([0-9]*\) rules.*/\1/p' "$TMP/out")" "$(expressions | wc -l)"
