# Logical replication of all tables: whatever a publication writes, it can write; what
# cannot be recorded is undone, recorded as failed, and told by the status.
use strict;
use warnings;
use Test::More;
use KanonNode;
use PostgreSQL::Test::Utils;

my $node = KanonNode::start('main', conf => "wal_level = logical\nmax_wal_senders = 2\n");
$node->safe_psql('postgres', <<'E');
CREATE ROLE publisher LOGIN;
CREATE SCHEMA own AUTHORIZATION publisher;
CREATE PUBLICATION everything FOR ALL TABLES;
SELECT pg_create_logical_replication_slot('slot', 'pgoutput');
SET SESSION AUTHORIZATION publisher;
CREATE TABLE own.visit (id int PRIMARY KEY, zip int, age int, note text);
INSERT INTO own.visit SELECT i, i % 5, i % 4, 'd' || i % 3 FROM generate_series(1, 240) i;
E

sub is_said
{
	my ($sql, $expected, $name) = @_;
	is(KanonNode::as($node, 'publisher', 'postgres', $sql), $expected, $name);
}

foreach my $protected ('', ", key => 'id', protect_successive => true, keep_releases => 2")
{
	my $p = $protected ? 'own.protected' : 'own.plain';
	is_said("SELECT kanon_create_publication('$p', 'own.visit', '{zip,age}', 3, '{\"keep\": [\"note\"]}'$protected)", '', "$p is created");
	is_said("SELECT status FROM kanon_refresh('$p')", 'current', 'and refreshed');
	$node->safe_psql('postgres', 'DELETE FROM own.visit WHERE id < 3; UPDATE own.visit SET zip = 4 WHERE id < 40 AND zip = 3;'
		  . " INSERT INTO own.visit SELECT (SELECT max(id) FROM own.visit) + i, i % 5, i % 4, 'd1' FROM generate_series(1, 60) i");
	is_said("SELECT status FROM kanon_refresh('$p')", 'current', 'when rows have come, changed and gone, too');
	is_said("SELECT kanon_alter_publication('$p', k => 4)", '', 'and altered');
	is_said("SELECT status, k >= 4 FROM kanon_refresh('$p')", 'current|t', 'and refreshed as it was altered');
	is_said("SET kanon.skip_unchanged = on;" . " SELECT status FROM kanon_refresh('$p');" x 2, "current\nunchanged", 'what is unchanged is noted, too');
}
is_said("CALL kanon_refresh_all(); SELECT count(*) FROM kanon_releases WHERE status = 'failed'", '0', 'all of them are refreshed');
is_said("SELECT count(*) FROM kanon_pattern_guided('own.visit', 'own.once', '{zip,age}', 3); SELECT count(*) FROM kanon_pattern_guided('own.visit', 'own.once', '{zip,age}', 3, replace => true)",
	"1\n1", 'a table is published, and replaced');

# Copies of a source that live as long as a refresh are sent to nobody.
my $sent = "SELECT count(*) FROM pg_logical_slot_peek_binary_changes('slot', NULL, NULL, 'proto_version', '1', 'publication_names', 'everything')"
  . " WHERE get_byte(data, 0) = ascii('R') AND encode(data, 'escape') ~";
is($node->safe_psql('postgres', "$sent 'kanon_(copy|ended|waiting|outcome|rows|values)_'"), '0', 'no working copy of a source is replicated');
isnt($node->safe_psql('postgres', "$sent 'plain_release_'"), '0', 'releases are');
$node->safe_psql('postgres', 'DROP PUBLICATION everything; CREATE PUBLICATION everything FOR TABLES IN SCHEMA own');
is_said("SELECT string_agg(status, ' ') FROM (VALUES ('own.plain'), ('own.protected')) AS v (p), kanon_refresh(p)", 'current current', 'of all tables of a schema, too');

# Tables that an older version has made get what they lack.
$node->safe_psql('postgres', "ALTER TABLE own.plain_$_ REPLICA IDENTITY DEFAULT") foreach 'publication', 'history';
is_said("SELECT status FROM kanon_refresh('own.plain')", 'current', 'tables of an older version get an identity');
$node->safe_psql('postgres', 'DROP PUBLICATION everything');

# What a table of the publication does not take fails the refresh, which is recorded.
my @refusals = (
	[ 'a list of columns', 'CREATE PUBLICATION narrow FOR TABLE own.plain_history (release)', 'DROP PUBLICATION narrow' ],
	[ 'a rule', 'CREATE RULE no AS ON UPDATE TO own.plain_history DO INSTEAD NOTHING', 'DROP RULE no ON own.plain_history' ],
	[ 'a rule of the definition', 'CREATE RULE no AS ON UPDATE TO own.plain_publication DO INSTEAD NOTHING', 'DROP RULE no ON own.plain_publication' ],
	[ 'a trigger', <<'E', 'DROP TRIGGER no ON own.plain_history' ]);
CREATE FUNCTION own.no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE EXCEPTION ''no''; END';
CREATE TRIGGER no BEFORE UPDATE ON own.plain_history FOR EACH ROW EXECUTE FUNCTION own.no()
E
foreach my $refusal (@refusals)
{
	my ($what, $do, $undo) = @$refusal;
	my $seen = 'SELECT md5(string_agg(p::text, \',\' ORDER BY p::text)) FROM own.plain AS p';
	my $before = KanonNode::as($node, 'publisher', 'postgres', $seen);
	$node->safe_psql('postgres', $do);
	is_said("SELECT status FROM kanon_refresh('own.plain')", 'failed', "$what: the refresh fails");
	is_said("SELECT status, failures FROM kanon_publication_status('own.plain')", 'failing|1', 'and the status says so');
	is_said("SELECT release = (SELECT max(release) FROM own.plain_history) FROM kanon_releases WHERE publication = 'own.plain' AND status = 'failed' ORDER BY release DESC LIMIT 1",
		't', 'it is in the history');
	is_said($seen, $before, 'readers have the release before');
	$node->safe_psql('postgres', $undo);
	is_said("SELECT status FROM kanon_refresh('own.plain')", 'current', 'the next one works');
	is_said("SELECT count(*) FROM pg_class WHERE relname ~ '^plain_release_'", '1', 'and leaves one release');
}
done_testing();
