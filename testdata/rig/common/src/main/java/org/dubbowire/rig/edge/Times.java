package org.dubbowire.rig.edge;

import java.io.Serializable;
import lombok.Getter;
import lombok.Setter;

/** java.time, every common type. */
@Getter
@Setter
public class Times implements Serializable {
    private static final long serialVersionUID = 1L;
    private java.time.LocalDate localDate;
    private java.time.LocalTime localTime;
    private java.time.LocalDateTime localDateTime;
    private java.time.Instant instant;
    private java.time.ZonedDateTime zonedDateTime;
    private java.time.OffsetDateTime offsetDateTime;
    private java.time.OffsetTime offsetTime;
    private java.time.Duration duration;
    private java.time.Period period;
    private java.time.Year year;
    private java.time.YearMonth yearMonth;
    private java.time.MonthDay monthDay;
    private java.time.DayOfWeek dayOfWeek;
    private java.time.ZoneId zoneId;
    private java.time.ZoneOffset zoneOffset;
}
