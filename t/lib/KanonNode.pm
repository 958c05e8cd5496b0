# A PostgreSQL server of its own for a TAP test, with the kanon just built.
#
#   use KanonNode;
#   my $node = KanonNode::start('main');                  # extension created
#   my $node = KanonNode::start('main', conf => "work_mem = '64kB'\n");
#   my $node = KanonNode::new_node('old', %{ (KanonNode::older())[0] });  # of an older release
#   my $said = KanonNode::as($node, 'role', 'database', 'SELECT 1');
#   my $data = KanonNode::data();                         # folder of the reference data, or undef
#
# The server listens on a unix socket only and is gone when the test ends.  Its
# superuser is postgres, and every client is, whoever runs the test.
package KanonNode;

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

$ENV{PGUSER} = 'postgres';

# A node, initialised and configured, not started: to set up a standby, say.
sub new_node
{
	my ($name, %opt) = @_;
	my $node = PostgreSQL::Test::Cluster->new($name, $opt{path} ? (install_path => $opt{path}) : ());
	my $found = $opt{found} // $ENV{KANON_SERVER_CONF};

	$node->init(
		extra => [ '--locale=C.UTF-8', '--encoding=UTF8', '--username=postgres' ],
		%{ $opt{init} // {} });
	$node->append_conf('postgresql.conf', "listen_addresses = ''\n");
	# Without this file the extension installed on the machine is tested.
	$node->append_conf('postgresql.conf', slurp_file($found)) if $found;
	# (compiling a plan takes longer than most of them)
	$node->append_conf('postgresql.conf', "jit = off\n");
	# (tests look at releases, which most of them make of what has not changed)
	$node->append_conf('postgresql.conf', "kanon.skip_unchanged = off\n");
	$node->append_conf('postgresql.conf', $opt{conf}) if $opt{conf};
	return $node;
}

sub start
{
	my $node = new_node(@_);

	$node->start;
	$node->safe_psql('postgres', 'CREATE EXTENSION kanon');
	return $node;
}

# The installed files, copied to where there can be more of them: the configuration that
# finds the copy, and its folder of control files and scripts.
sub staged_copy
{
	my $conf = slurp_file($ENV{KANON_SERVER_CONF});
	chomp(my $share = qx(pg_config --sharedir));
	my ($stage) = $conf =~ /^extension_destdir = '(.*?)'/m ? $1 : $conf =~ /^extension_control_path = '(.*?)\Q$share\E:/m ? $1 : die $conf;
	my $copy = PostgreSQL::Test::Utils::tempdir . '/stage';

	system_or_bail('cp', '-R', $stage, $copy);
	$conf =~ s/\Q$stage\E/$copy/g;
	append_to_file("$copy/server.conf", $conf);
	return ("$copy/server.conf", "$copy$share/extension");
}

# As a role: what comes out, or the SQLSTATE of the error.
sub as
{
	my ($node, $role, $db, $sql) = @_;
	my ($ret, $stdout, $stderr) = $node->psql($db, "\\set VERBOSITY sqlstate\n$sql",
		extra_params => [ '-U', $role ]);
	return $ret == 0 ? $stdout : $stderr =~ /ERROR:  (\w+)/ ? $1 : $stderr;
}

# Servers of older releases, beside the one that is tested, that have kanon, too.
sub older
{
	return map { my ($path, $found) = split /=/; { path => $path, found => $found } }
	  split ' ', $ENV{KANON_OLDER} // '';
}

sub data { return $ENV{KANON_DATA}; }

1;
