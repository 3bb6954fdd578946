# SPDX-License-Identifier: GPL-2.0-only
#
# Common parts of the pages of measurements: rows, expressions over them, reST. "page" and
# "peers/page" require it.
use strict;
use warnings;

# ---- rows ------------------------------------------------------------------

# A CSV: { series => { x => { column => value } } }, order of series and of x.
sub load_csv {
	my ($file) = @_;
	my %t = (series => [], x => [], row => {});
	open(my $f, '<', $file) or return undef;
	my $head = <$f> // return undef;
	chomp $head;
	my @name = split /,/, $head;
	my (%s, %x);
	while (my $l = <$f>) {
		chomp $l;
		my @v = split /,/, $l, -1;
		next if @v != @name;
		my %r;
		@r{@name} = @v;
		push @{$t{series}}, $r{series} unless $s{$r{series}}++;
		push @{$t{x}}, $r{x} unless $x{$r{x}}++;
		$t{row}{$r{series}}{$r{x}} = \%r;
	}
	@{$t{x}} = sort { $a <=> $b } @{$t{x}};
	return @{$t{series}} ? \%t : undef;
}

# "key=value" lines
sub load_keys {
	my ($file) = @_;
	my %k;
	open(my $f, '<', $file) or return {};
	while (<$f>) {
		chomp;
		$k{$1} = $2 if /^(\w+)=(.*)/;
	}
	return \%k;
}

# ---- what expressions see --------------------------------------------------

our $T;		# rows of the figure or page that is being made
our $FIGURES;	# the directory of the sweeps
our %ROWS;	# rows of other figures, by name

# A value: v(SERIES, X), of goodput unless METRIC says otherwise.
sub v {
	my ($s, $x, $m) = @_;
	return undef unless defined $s && defined $x;
	my $r = $T->{row}{$s}{$x} or return undef;
	my $v = $r->{$m // 'goodput'};
	return defined $v && $v ne '' ? $v : undef;
}

# A value of another figure: of(FIGURE, SERIES, X, METRIC)
sub of {
	my ($figure, @what) = @_;
	local $T = $ROWS{$figure} // return undef;
	return v(@what);
}

sub div {
	my ($a, $b) = @_;
	return defined $a && defined $b && $b > 0 ? $a / $b : undef;
}

sub minus {
	my ($a, $b) = @_;
	return defined $a && defined $b ? $a - $b : undef;
}

sub mul {
	my ($a, $b) = @_;
	return defined $a && defined $b ? $a * $b : undef;
}

# One series over another at an x.
sub r { my ($a, $b, $x, $m) = @_; return div(v($a, $x, $m), v($b, $x, $m)); }

sub ratios {
	my ($a, $b, $m) = @_;
	return grep { defined } map { r($a, $b, $_, $m) } @{$T->{x}};
}

# ... on average over all x, at least, at most.
sub avg { my @r = ratios(@_); return @r ? eval { my $s = 0; $s += $_ for @r; $s / @r } : undef; }
sub least { my @r = sort { $a <=> $b } ratios(@_); return $r[0]; }
sub most { my @r = sort { $a <=> $b } ratios(@_); return $r[-1]; }

sub values_of {
	my ($s, $m) = @_;
	return grep { defined v($s, $_, $m) } @{$T->{x}};
}

# The largest value of a series, and where it is.
sub topx {
	my ($s, $m) = @_;
	my @x = sort { v($s, $a, $m) <=> v($s, $b, $m) } values_of($s, $m);
	return $x[-1];
}
sub top { my $x = topx(@_); return defined $x ? v($_[0], $x, $_[1]) : undef; }

# Where the N-th value of a series is, from the least one.
sub nthx {
	my ($n, $s, $m) = @_;
	my @x = sort { v($s, $a, $m) <=> v($s, $b, $m) } values_of($s, $m);
	return $x[$n - 1];
}
sub nth { return v($_[1], nthx(@_), $_[2]); }

# The first and last x that a series has.
# They are undef without any, in lists, too.
sub firstx { my @x = values_of(@_); return $x[0]; }
sub lastx { my @x = values_of(@_); return $x[-1]; }

# The series with the largest value at an x, or on average.
sub best {
	my ($m, @s) = @_;
	my ($name, $top);
	for my $s (@s) {
		my @x = values_of($s, $m) or next;
		my $sum = 0;
		$sum += v($s, $_, $m) for @x;
		($name, $top) = ($s, $sum / @x) if !defined $top || $sum / @x > $top;
	}
	return $name;
}

# Seconds that the engine spent posting, for a million messages. All nodes share one engine thread,
# and spindle-perf counts each thread once.
sub posting {
	my ($s, $x) = @_;
	my ($busy, $post) = (v($s, $x, 'engine_busy'), v($s, $x, 'engine_post'));
	my ($secs, $sent) = map { v($s, $x, $_) } qw(seconds sent);
	return undef unless defined $busy && defined $post && $secs && $sent;
	return $busy * $post * $secs / $sent * 1e6;
}

# Subgroups that the engine looks at in a pass.
sub looks { my ($s, $x) = @_; return div(v($s, $x, 'visits'), v($s, $x, 'passes')); }

# Writes for a million messages.
sub writes {
	my $w = v($_[0], $_[1], 'writes_per_message');
	return defined $w ? $w * 1e6 : undef;
}

# Mean size of the batches of a stage.
sub batch { my ($s, $x, $stage) = @_; return v($s, $x, "${stage}_batch"); }

our $NONE = '(not measured)';
sub num { my ($v, $d) = @_; return defined $v ? sprintf("%.*f", $d // 1, $v) : $NONE; }
sub fold { my ($v) = @_; return defined $v ? sprintf($v < 10 ? '%.2f times' : '%.1f times', $v) : $NONE; }
sub pct { my ($v) = @_; return defined $v ? sprintf('%.0f %%', 100 * $v) : $NONE; }
sub mb { my ($v) = @_; return defined $v ? sprintf($v < 1e7 ? '%.2f MB/s' : '%.0f MB/s', $v / 1e6) : $NONE; }
sub us { my ($v) = @_; return !defined $v ? $NONE : $v < 1000 ? sprintf('%.2f us', $v) : sprintf('%.2f ms', $v / 1000); }
sub rate {
	my ($v) = @_;
	return !defined $v ? $NONE : $v < 1e6 ? sprintf('%.1f k/s', $v / 1e3) : sprintf('%.2f M/s', $v / 1e6);
}
sub many {
	my ($v) = @_;
	return !defined $v ? $NONE : $v < 1e6 ? sprintf('%.0f', $v) : sprintf('%.2f M', $v / 1e6);
}
sub word { return $_[0] // $NONE; }
# "more" or "less", by the sign of a difference from 1.
sub change {
	my ($v) = @_;
	return $NONE unless defined $v;
	return sprintf('%.1f %% %s', 100 * abs($v - 1), $v >= 1 ? 'more' : 'less');
}

sub fill {
	my ($text, $what) = @_;
	$text =~ s{\{\{(.*?)\}\}}{
		my $e = $1;
		my $out = eval "no warnings 'redefine'; $e";
		die "page: $what: {{$e}}: $@" if $@;
		defined $out ? $out : $NONE;
	}gse;
	return $text;
}

# A paragraph of short lines.
sub wrap {
	my ($text) = @_;
	my ($line, @lines) = ('');
	for my $w (split ' ', $text) {
		if ($line ne '' && length("$line $w") > 90) {
			push @lines, $line;
			$line = '';
		}
		$line .= $line eq '' ? $w : " $w";
	}
	return join("\n", @lines, $line);
}

# ---- reST ------------------------------------------------------------------

our $out = '';
sub put { $out .= join('', @_) . "\n"; }

# The paragraphs of a file, their expressions computed.
sub put_file {
	my ($file) = @_;
	open(my $f, '<', $file) or die "page: $file: $!\n";
	my $text = do { local $/; <$f> };
	$text =~ s/^\.\. SPDX.*\n\s*//;
	put(wrap(fill($_, $file))), put('') for split /\n\n+/, $text;
}

sub heading { my ($t, $c) = @_; put(''); put($t); put($c x length $t); put(''); }

# A cell of a csv-table, in quotes if it has a comma or a quote.
sub field {
	my ($c) = @_;
	return $c if $c !~ /[",]/;
	$c =~ s/"/""/g;
	return "\"$c\"";
}

sub table {
	my ($head, @rows) = @_;
	put('.. csv-table::');
	put('   :header-rows: 1');
	put('');
	put('   ', join(', ', map { field($_) } @$_)) for $head, @rows;
	put('');
}

# Median, with minimum and maximum in brackets. Measurements on a busy host have a star.
sub cell {
	my ($s, $x, $m, $scale, $digits) = @_;
	my $v = v($s, $x, $m);
	return '' unless defined $v;
	my ($min, $max) = (v($s, $x, "${m}_min"), v($s, $x, "${m}_max"));
	my $t = sprintf('%.*f', $digits, $v / $scale);
	$t .= sprintf(' (%.*f to %.*f)', $digits, $min / $scale, $digits, $max / $scale)
		if defined $min && defined $max && $min != $max;
	$t .= ' \*' if v($s, $x, 'noisy');
	return $t;
}

# All series, or those of @only.
sub metric_table {
	my ($metric, $scale, $digits, $caption, @only) = @_;
	my @s = grep { values_of($_, $metric) } @only ? @only : @{$T->{series}};
	return unless @s;
	put(ucfirst $caption, ':');
	put('');
	table(['', @s], map {
		my $x = $_;
		my @c = map { cell($_, $x, $metric, $scale, $digits) } @s;
		(grep { $_ ne '' } @c) ? ["**$x**", @c] : ();
	} @{$T->{x}});
}

# Which commit a CSV is the measurement of, as far as its .run file knows.
sub origin {
	my ($k) = @_;
	my $when = $k->{date} ? "Measured $k->{date}" : 'When this was measured was not recorded';
	return "$when with commit $k->{commit}." if $k->{commit};
	return "$when; with which commit was not recorded, and the CSV is in the tree since "
		. "commit $k->{csv}." if $k->{csv};
	return "$when; with which commit was not recorded.";
}

# The sum of the points that a sweep would measure now, as "run" writes it.
sub sweep_now {
	my ($machine, $base, $quick) = @_;
	my ($sweeps) = $FIGURES =~ m{([^/]+)$};
	local %ENV = (%ENV, LIST => 1, QUICK => $quick, MACHINE => $machine);
	my $sum = `cd '$FIGURES/..' && dash '$sweeps/$base.sh' | cksum` // '';
	return $sum =~ /^(\d+)/ ? $1 : die "page: $base.sh: its points cannot be listed\n";
}

# Say so if the sweep has changed since the data of a figure were measured.
sub older {
	my ($dir, $machine, $base) = @_;
	my $k = load_keys("$dir/$machine/$base.run");
	return if !$k->{sweep} || $k->{sweep} eq sweep_now($machine, $base, $k->{quick} // '');
	put(wrap('**These data are older than their sweep,** which by now measures other points, or '
		 . 'the same ones with other options.'));
	put('');
}

sub notes {
	my ($dir, $base) = @_;
	my $k = load_keys("$dir/$base.run");
	if (%$k) {
		my $n = "$k->{rows} rows of $k->{points} points, $k->{seconds} s; load of the host "
			. "$k->{load_before} before, $k->{load_after} after"
			. ($k->{noisy} ? "; $k->{noisy} noisy" : '')
			. (defined $k->{processor} ? '; bound to one processor of it' : '') . ($k->{quick} ? '; QUICK' : '')
			. '. ' . origin($k);
		put("*$n*");
		put('');
	}
	if (open(my $f, '<', "$dir/$base.failed")) {
		my @l = <$f>;
		chomp @l;
		put('Not measured:') if @l;
		put('') if @l;
		s/([\\*`|_])/\\$1/g, put("* $_") for @l;
		put('') if @l;
	}
}

# ---- figures ---------------------------------------------------------------

# The parts of NAME.rst
sub load_text {
	my ($file) = @_;
	my (%t, $part);
	open(my $f, '<', $file) or die "page: $file: $!\n";
	while (<$f>) {
		next if /^\.\. SPDX/;
		if (/^\@(\w+)\s*(.*)/) {
			$part = $1;
			if ($part eq 'table' || $part eq 'batches') {
				push @{$t{tables}}, [$part, $2];
			} else {
				$t{$part} = $2 eq '' ? '' : "$2\n";
			}
		} elsif (defined $part) {
			$t{$part} .= $_ if exists $t{$part};
		}
	}
	for my $p (qw(title paper ours why)) {
		die "page: $file has no \@$p\n" unless defined $t{$p};
		$t{$p} =~ s/^\s+|\s+$//g;
	}
	return \%t;
}

sub base_of {
	my ($name) = @_;
	open(my $f, '<', "$FIGURES/$name.sh") or die "page: $name.sh: $!\n";
	while (<$f>) {
		return $1 if /^# bench: data=(\w+)/;
	}
	return $name;
}

sub figure {
	my ($dir, $machine, $name) = @_;
	my $t = load_text("$FIGURES/$name.rst");
	my $base = base_of($name);
	local $T = load_csv("$dir/$machine/$base.csv");
	heading($t->{title}, '-');
	if (-e "$dir/$machine/$name.svg") {
		put(".. image:: $machine/$name.svg");
		put("   :alt: $t->{title}");
		put('');
	}
	put(wrap("**The paper:** $t->{paper}"));
	put('');
	my $why;
	older($dir, $machine, $base) if $T;
	if ($T) {
		put(wrap('**Here:** ' . fill($t->{ours}, "$name.rst")));
		$why = fill($t->{why}, "$name.rst");
	} else {
		# Sentences are tried all the same.
		$T = { series => [], x => [], row => {} };
		fill($t->{ours}, "$name.rst");
		$why = fill($t->{why}, "$name.rst");
		put('**Here:** not measured yet.');
	}
	put('');
	put(wrap("**Why they differ:** $why"));
	put('');
	for my $e (@{$t->{tables} // []}) {
		my ($kind, $args) = @$e;
		if ($kind eq 'batches') {
			batch_table($args);
		} else {
			my ($m, $scale, $digits, $caption) = split ' ', $args, 4;
			metric_table($m, $scale, $digits, $caption);
		}
	}
	notes("$dir/$machine", $base);
}

sub verdict {
	my ($ok) = @_;
	return !defined $ok ? '' : $ok ? 'met' : '**not met**';
}

sub machine {
	my ($dir, $machine, $text) = @_;
	my $k = load_keys("$dir/$machine/machine");
	return unless %$k;
	put("$text, as of the last figure that was measured: Spindle $k->{spindle}, Linux $k->{kernel}",
	    $k->{qemu} ? " in QEMU $k->{qemu}" : '', ", gcc $k->{gcc}, on a host with ",
	    "$k->{cores} cores of $k->{cpu} and $k->{memory}, Linux $k->{host}; load $k->{load} ",
	    "before it began, $k->{date}", $k->{quick} ? '; few points and short ones (QUICK)' : '',
	    '.');
	put('');
}

# print_page: print the collected text, without trailing blanks
sub print_page {
	$out =~ s/[ \t]+$//mg;
	$out =~ s/\n{3,}/\n\n/g;
	print $out;
}

1;
