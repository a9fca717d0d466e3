package org.dubbowire.rig.run;

import com.alibaba.dubbo.rpc.benchmark.BidRequest;
import com.alibaba.dubbo.rpc.benchmark.Device;
import com.alibaba.dubbo.rpc.benchmark.Geo;
import com.alibaba.dubbo.rpc.benchmark.Impression;
import com.github.smartbuf.dubbo.model.PostModel;
import com.github.smartbuf.dubbo.model.TopicModel;
import com.github.smartbuf.dubbo.model.UserModel;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import org.apache.dubbo.benchmark.bean.Page;
import org.apache.dubbo.benchmark.bean.User;

/** The published objects, the same in every run. */
final class Data {
    private static final long CREATED = 1574150400000L;

    private Data() {
    }

    /** As Dubbo's own benchmark fills it: little data, the rest null. */
    static BidRequest bid() {
        Impression impression = new Impression();
        impression.setId("abc");
        impression.setBidFloor(1.1);
        Geo geo = new Geo();
        geo.setCity("beijing");
        geo.setCountry("china");
        geo.setLat(100.1f);
        geo.setLon(100.1f);
        Device device = new Device();
        device.setMake("apple");
        device.setOs("ios");
        device.setVersion("7.0");
        device.setLang("zh_CN");
        device.setModel("iphone");
        device.setGeo(geo);
        BidRequest request = new BidRequest();
        request.setImpressions(new ArrayList<>(List.of(impression)));
        request.setDevice(device);
        return request;
    }

    /** The same with an id and more impressions. */
    static BidRequest fullBid() {
        BidRequest request = bid();
        request.setId("bid-1");
        for (int i = 0; i < 3; i++) {
            Impression impression = new Impression();
            impression.setId("imp" + i);
            impression.setBidFloor(i * 0.25);
            request.getImpressions().add(impression);
        }
        return request;
    }

    static String text50k() {
        return text(50 * 1024, 1);
    }

    static String text(int length, int seed) {
        Random random = new Random(seed);
        StringBuilder s = new StringBuilder(length);
        while (s.length() < length) {
            s.append((char) ('a' + random.nextInt(Settings.LETTERS)));
        }
        return s.toString();
    }

    static String uuid(int seed) {
        return UUID.nameUUIDFromBytes(("tiny" + seed).getBytes(StandardCharsets.UTF_8)).toString();
    }

    static User user(long id, String suffix) {
        User user = new User();
        user.setId(id);
        user.setName("Doug Lea" + suffix);
        user.setSex(1);
        user.setBirthday(LocalDate.of(1968, 12, 8));
        user.setEmail("dong.lea@gmail.com" + suffix);
        user.setMobile("18612345678" + suffix);
        user.setAddress("北京市 中关村 中关村大街1号 鼎好大厦 1605" + suffix);
        user.setIcon("https://www.baidu.com/img/bd_logo1.png" + suffix);
        user.setStatus(1);
        user.setCreateTime(LocalDateTime.of(2019, 11, 19, 16, 0, 0, 123_456_789));
        user.setUpdateTime(user.getCreateTime());
        user.setPermissions(new ArrayList<>(Arrays.asList(1, 2, 3, 4, 5, 6, 7, 8, 19, 88, 86, 89, 90, 91, 92)));
        return user;
    }

    /** The same user without dates, for serializations that are older than java.time. */
    static User undated(User user) {
        user.setBirthday(null);
        user.setCreateTime(null);
        user.setUpdateTime(null);
        return user;
    }

    static Page<User> page(int pageNo) {
        List<User> users = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            users.add(user(i, Integer.toString(i)));
        }
        Page<User> page = new Page<>();
        page.setPageNo(pageNo);
        page.setTotal(1000);
        page.setResult(users);
        return page;
    }

    /** 100 posts that share 10 topics. */
    static List<PostModel> posts() {
        Random random = new Random(100);
        List<TopicModel> topics = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            TopicModel topic = new TopicModel();
            topic.setId(10000 + random.nextInt(40000));
            topic.setName(text(16, i));
            topic.setDescription(text(64, i));
            topic.setPortrait("http://helloworld.com/img/default-portrait.png");
            topic.setBackground("http://helloworld.com/img/default-background.png");
            topic.setPostNum(1000 + random.nextInt(1000));
            topic.setFollowerNum(5000 + random.nextInt(3000));
            topic.setCreateTime(CREATED + i);
            topics.add(topic);
        }
        List<PostModel> posts = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            PostModel post = new PostModel();
            post.setPostId(1000000 + random.nextInt(1000000));
            post.setAuthorId(1000000 + random.nextInt(1000));
            post.setPrePostId(i % 10 == 0 ? null : 1000000 + random.nextInt(1000));
            post.setTitle(text(12, i));
            post.setDescription(text(40, i));
            post.setContentType(PostModel.ContentType.values()[random.nextInt(5)]);
            post.setVisibility(PostModel.Visibility.values()[random.nextInt(3)]);
            post.setCreateTime(CREATED + i * 1000L);
            for (int m = 0; m < 5; m++) {
                post.getMentions().add(1000000 + random.nextInt(1000000));
            }
            post.getTopics().add(topics.get(i % 10));
            posts.add(post);
        }
        return posts;
    }

    /** A user with 20 friends; every friend has the user as a friend, and the next friend. */
    static UserModel circle() {
        List<UserModel> users = new ArrayList<>();
        for (int i = 0; i < 21; i++) {
            UserModel user = new UserModel();
            user.setId(10000 + i);
            user.setNickname(text(10, i));
            user.setLoginIp("127.0.0.1");
            user.setLoginTime(CREATED + i);
            user.setCreateTime(CREATED);
            user.setUpdateTime(CREATED + 86_400_000L);
            user.setToken(uuid(i));
            users.add(user);
        }
        UserModel first = users.get(0);
        for (int i = 1; i < 21; i++) {
            first.getFriends().add(users.get(i));
            users.get(i).getFriends().add(first);
            users.get(i).getFriends().add(users.get(i == 20 ? 1 : i + 1));
        }
        return first;
    }
}
